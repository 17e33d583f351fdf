/**
 * Whether `npx frazil doctor` could keep a state file: tried in a folder beside the real one, which is removed again. A state file that
 * is there is opened and closed, as each generator does, and nothing is minted from it.
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Layout, Snowflake, type StateFile } from "frazil";
import { type Flags, given } from "./flags.js";
import { type Refusal, refusalOf } from "./refusal.js";

export interface StateFileReport {
  readonly directory?: string;
  readonly path?: string;
  /** Whether the file is there already. */
  readonly isThere: boolean;
  /** What is known of the file, or of the one that was tried in its place. */
  readonly file?: StateFile;
  readonly refusal?: Refusal;
}

/** Whether something is there, be it a link to nothing. Below a file, and where nobody may look, nothing is found. */
function isFound(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** What is there: this path, or the nearest above it. */
const existing = (path: string): string => (isFound(path) || dirname(path) === path ? path : existing(dirname(path)));

/**
 * Lets a signal wait for the end of the synchronous work that is under way, a second or two, which removes its folder. Once there is no
 * other work the command is over anyhow.
 */
function deferSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.kill(process.pid, signal));
}

/** Opens a state file, looks at it, and closes it. */
function look(layout: Layout, options: object, mints: boolean): StateFile | undefined {
  using ids = Snowflake.local({ layout, ...options });
  if (mints) ids.next();
  return ids.health().file;
}

export function checkStateFile(flags: Flags, layout: Layout): StateFileReport {
  const { scope, "accept-unproven-platform": acceptUnprovenPlatform } = flags;
  const options = given({ scope, acceptUnprovenPlatform });
  let report: StateFileReport = { isThere: false };
  const refusal = refusalOf(() => {
    const { files } = Snowflake.port().binding;
    const dir = flags.dir ?? files?.defaultDir() ?? undefined;
    // Without an addon, or without a directory: the call says so.
    if (files === undefined || dir === undefined) return void look(layout, options, false);
    const directory = resolve(dir);
    report = { ...report, directory };
    report = { ...report, ...tried(directory, layout, options) };
  });
  return refusal ? { ...report, refusal } : report;
}

/** Where no folder can be made, so no state file either: one that is there may serve, and otherwise the call says why not. */
function opened(directory: string, layout: Layout, options: object): Partial<StateFileReport> {
  let file: StateFile | undefined;
  const refusal = refusalOf(() => {
    file = look(layout, { ...options, dir: directory }, false);
  });
  return { ...(file && { isThere: true, path: file.path, file }), ...(refusal && { refusal }) };
}

function tried(directory: string, layout: Layout, options: object): Partial<StateFileReport> {
  deferSignals();
  let folder: string;
  try {
    folder = mkdtempSync(join(existing(directory), ".frazil-doctor-"));
  } catch {
    return opened(directory, layout, options);
  }
  try {
    const inFolder = { ...options, dir: folder };
    // A new file has its first ID after a second. This only makes it, for its name.
    const unready = refusalOf(() => void look(layout, { ...inFolder, startWaitMs: 0 }, false));
    if (unready !== undefined && unready.code !== "CLOCK_BACKWARD")
      return { refusal: { ...unready, message: unready.message.replaceAll(folder, () => directory) } };
    const name = readdirSync(folder).find((found) => found.endsWith(".frazil")) as string;
    const path = join(directory, name);
    const isThere = isFound(path);
    let file: StateFile | undefined;
    const refusal = refusalOf(() => {
      file = isThere ? look(layout, { ...options, dir: directory }, false) : look(layout, inFolder, true);
    });
    return { path, isThere, ...(file && { file: { ...file, path } }), ...(refusal && { refusal }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
