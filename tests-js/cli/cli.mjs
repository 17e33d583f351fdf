// Runs the command line as a shell does: a process, with pipes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { isLinuxX64Gnu as hasAddon } from "../../scripts/shell.mjs";

export { hasAddon };
export const COMMANDS = [
  ...["next", "decode", "convert", "range", "layouts", "plan", "sql", "doctor", "ddl", "fence"],
  ...["key", "seal", "open", "audit"],
];
export const root = fileURLToPath(new URL("../../", import.meta.url));
export const program = join(root, "npm/frazil/dist/cli.mjs");
export const folder = mkdtempSync(join(tmpdir(), "frazil-cli-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** The environment of a person: state files in a folder of the test, no orchestrator, and the backend of the machine. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|node_|frazil_|force_color|kubernetes)/i.test(name)),
);
/** Independent answers, with keys. */
export const vectors = JSON.parse(readFileSync(join(root, "crates/core/vectors/public.json"), "utf8"));
const [{ text: key }] = vectors.keys;
export const environment = { ...inherited, XDG_STATE_HOME: join(folder, "state"), ID_KEY: key, PASSWORD: "swordfish" };

/** Rows by their values of some fields. */
export function groupsOf(rows, ...fields) {
  const groups = new Map();
  for (const row of rows) {
    const name = JSON.stringify(fields.map((field) => row[field]));
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()];
}

/** The files that the help, the hints and the page name. */
writeFileSync(join(folder, "ids.txt"), "1541815603606036480\n");
writeFileSync(join(folder, "id.key"), `${key}\n`, { mode: 0o600 });
writeFileSync(join(folder, "users.csv"), 'at,user,note\n1,usr_0LrCR3y82ZiHd1GYZNR3XN,"a, b"\n');
writeFileSync(join(folder, "orders.csv"), "server,id\na,1541815603606036480\nb,1541815603606167552\n");

/** What only a program can do, in a message for a person. */
export const CALLS =
  /new Snowflake\(|Snowflake\.local|lease\(|startWaitMs|fileSystem:|epochMs|frazil\/testing|pass (an?|another|node) /i;

/** As the input: a pipe into which nothing is written, and which ends after the command. */
export const OPEN = Symbol("an open pipe");

/**
 * Runs the command line. `input`: its standard input, a text, pieces of one, or `OPEN`; without it, there is none, as with `< /dev/null`.
 * Returns what it printed, and its exit code.
 */
export async function frazil(args, { input, env = {}, path = program } = {}) {
  const child = spawn(process.execPath, [path, ...args], {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (input !== undefined && input !== OPEN) await write(child.stdin, typeof input === "string" ? [input] : input);
  const [stdout, stderr, [code]] = await output;
  child.stdin?.destroy();
  return { stdout, stderr, code };
}

/** Writes pieces to a pipe, no faster than its reader. */
async function write(pipe, pieces) {
  for await (const piece of pieces) if (!pipe.write(piece)) await once(pipe, "drain");
  pipe.end();
}

/** Runs a line of a shell, in which `frazil` is the command line. Returns what it printed, and the exit code of each part. */
export async function shell(line) {
  const script = `frazil() { "${process.execPath}" "${program}" "$@"; }\n${line}\necho "\${PIPESTATUS[@]}" >&3`;
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const [stdout, stderr, codes] = await Promise.all([text(child.stdout), text(child.stderr), text(child.stdio[3])]);
  return { stdout, stderr, codes: codes.trim().split(" ").map(Number) };
}

/** Runs a command in a terminal. Returns what the terminal shows. */
export const inTerminal = (command) =>
  shell(`script -qec '${command.replace("frazil", `"${process.execPath}" "${program}"`)}' /dev/null`);
export const hasScript = (await shell("command -v script")).codes[0] === 0;
