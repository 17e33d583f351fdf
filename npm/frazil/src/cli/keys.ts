/**
 * The keys of `--key-file` and `--key-env`. A key is never an argument: every user of a machine sees those of its processes, and a shell
 * keeps them.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { FrazilError } from "frazil";
import { keyFacts } from "../public/facts.js";
import type { Flags } from "./flags.js";
import { quoted } from "./hints.js";
import type { Reader } from "./input.js";
import { complain, told } from "./output.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** The flags that name keys. */
export const KEY_FLAGS = ["key-file", "key-env"] as const;

/** More than a key has. What follows in a file, such as an image that was meant to be another one, is not read. */
const MAX_BYTES = 256;

/** A key or most of one, also in `NAME=KEY`; not a file such as `frazilkey_production`. */
const KEY = /frazilkey_\w{20}/i;

/** Warns if others than the owner may read a file. Pipes and Windows have no such rights. */
export async function warnIfOthersRead(file: number, path?: string): Promise<void> {
  const stats = fstatSync(file);
  if (process.platform === "win32" || !stats.isFile() || (stats.mode & 0o044) === 0) return;
  const [name, place] = path === undefined ? ["the file of the key", "FILE"] : [quoted(path), quoted(path)];
  const mode = (stats.mode & 0o777).toString(8);
  await complain(`frazil: ${told(`warning: others may read ${name} (mode ${mode})`, `chmod 600 ${place}`)}\n`);
}

/** The text of a file without its line end. */
async function textOfFile(path: string): Promise<string> {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_BYTES);
    let length = 0;
    for (let read = -1; read !== 0; length += read) read = readSync(file, bytes, length, bytes.length - length, null);
    await warnIfOthersRead(file, path);
    return bytes.toString("utf8", 0, length).replace(/\r?\n$/, "");
  } finally {
    closeSync(file);
  }
}

function textOfVariable(name: string): string {
  const text = process.env[name];
  if (text === undefined) throw new UsageError(`the environment variable ${shownArgument(name)} is not set`);
  return text;
}

/** Refuses what is not a key, and names where it stands. The error does not show it. */
function checked(text: string, source: string): string {
  try {
    keyFacts(text);
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    const { code, message, hint } = error;
    throw new FrazilError(code, `${source}: ${message.replace(`${code}: `, "")}\n${hint ?? ""}`);
  }
  return text;
}

/**
 * The texts of the keys, in their order.
 *
 * @throws {UsageError} if there are none.
 */
export async function keysOf({ command, example }: Reader, flags: Flags): Promise<string[]> {
  const [{ "key-file": files = [], "key-env": variables = [] }, keys]: [Flags, string[]] = [flags, []];
  if (files.length + variables.length === 0) throw new UsageError(`${command} needs a key\nnpx frazil ${example}`);
  if (files.length > 0 && variables.length > 0)
    throw new UsageError("--key-file and --key-env exclude each other\nThe first key seals: give all of them one way.");
  if ([...files, ...variables].some((source) => KEY.test(source)))
    throw new UsageError(
      "a key was given as an argument, which others on this machine can see\nMake a new one: npx frazil key new. Give the name of its file, or of an environment variable.",
    );
  for (const path of files) keys.push(checked(await textOfFile(path), shownArgument(path)));
  for (const name of variables) keys.push(checked(textOfVariable(name), `$${name}`));
  return keys;
}
