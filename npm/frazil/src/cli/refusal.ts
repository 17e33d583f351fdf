/** A refusal by the package, in the words of the command line. */
import { FrazilError } from "frazil";
import { firstLine, remedyOf } from "../core/no-addon.js";
import { reworded } from "./wordings.js";

/** As `--json` prints it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** What to do. Absent if the message says it all. */
  readonly hint?: string;
}

const NOT_FOUND = /^(Cannot find module )(.*)( from .*)$/;

/** The reasons of attempts to load the addon. Reasons that differ only in the package name are merged: their paths are long. */
export function reasonsInShort(reasons: readonly string[]): string[] {
  const short: string[] = [];
  for (const reason of reasons) {
    const [, doing, name, place] = NOT_FOUND.exec(reason) ?? [];
    const at =
      place === undefined ? -1 : short.findIndex((other) => other.startsWith(doing as string) && other.endsWith(place));
    if (at === -1) short.push(reason);
    else short[at] = `${(short[at] as string).slice(0, -(place as string).length)} or ${name}${place}`;
  }
  return short;
}

/** Why the addon is needed, and why there is none. */
function nativeRequired({ cause }: FrazilError): Omit<Refusal, "code"> {
  const causes: readonly unknown[] = (cause as AggregateError | undefined)?.errors ?? [];
  const reasons = reasonsInShort(causes.map(firstLine)).join("; ");
  const none = `none could be loaded (${reasons})`;
  if (process.env["FRAZIL_BACKEND"] === "native")
    return { message: `FRAZIL_BACKEND=native asks for the native addon, and ${none}`, hint: remedyOf(causes) };
  const [why, remedy] = causes.length > 0 ? [none, remedyOf(causes)] : ["FRAZIL_BACKEND=wasm forbids it", "Unset it."];
  return {
    message: `the state file needs the native addon, and ${why}`,
    hint: `${remedy} Or give a node id that no other process uses: --node N`,
  };
}

/** The message of a refusal, without its code, and its hint. */
export function toldOf(error: FrazilError): Omit<Refusal, "code"> {
  if (error.code === "NATIVE_REQUIRED") return nativeRequired(error);
  const hint = reworded(error.hint ?? "");
  return { message: reworded(error.message.replace(`${error.code}: `, "")), ...(hint && { hint }) };
}

/** The refusal of a call; `undefined` if it succeeds. */
export function refusalOf(call: () => void): Refusal | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    return { code: error.code, ...toldOf(error) };
  }
}
