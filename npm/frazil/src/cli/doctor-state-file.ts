/**
 * Whether `npx frazil doctor` can keep a state file: tried in a folder beside the real one, which is then removed. An existing state file
 * is opened and closed, as by any generator, without minting.
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Layout, Snowflake, type StateFile } from "frazil";
import { type Flags, given } from "./flags.js";
import { type Refusal, refusalOf } from "./refusal.js";

export interface StateFileReport {
  readonly directory?: string;
  readonly path?: string;
  /** Whether the file already exists. */
  readonly isThere: boolean;
  /** The file, or the one that was tried instead. */
  readonly file?: StateFile;
  readonly refusal?: Refusal;
}

/** Whether something exists, even a dangling link. Below a file, and without permission, nothing is found. */
function isFound(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The nearest existing path: this one, or one above it. */
const existing = (path: string): string => (isFound(path) || dirname(path) === path ? path : existing(dirname(path)));

/**
 * Delays a signal until the synchronous work in progress, a second or two, has removed its folder. Without other work, the command then
 * ends anyway.
 */
function deferSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.kill(process.pid, signal));
}

/** Opens a state file, inspects it, and closes it. */
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
    // Without an addon or a directory, the call says so.
    if (files === undefined || dir === undefined) return void look(layout, options, false);
    const directory = resolve(dir);
    report = { ...report, directory };
    report = { ...report, ...tried(directory, layout, options) };
  });
  return refusal ? { ...report, refusal } : report;
}

/** If no folder can be made, no state file can be either. An existing one may still work; otherwise the call says why not. */
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
    // A new file takes a second to its first ID. This only creates it, for its name.
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
