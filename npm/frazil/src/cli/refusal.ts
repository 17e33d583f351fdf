/** A refusal by the package, in the words of the command line. */
import { FrazilError } from "frazil";
import { firstLine, remedyOf } from "../core/no-addon.js";
import { reworded } from "./wordings.js";

/** As `--json` prints it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

const NOT_FOUND = /^(Cannot find module )(.*)( from .*)$/;

/** The reasons of attempts to load the addon. Those that differ in the name of the package are one, since their paths are long. */
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

/** What the addon is needed for, and why there is none. */
function nativeRequired({ cause }: FrazilError): string {
  const causes: readonly unknown[] = (cause as AggregateError | undefined)?.errors ?? [];
  const reasons = reasonsInShort(causes.map(firstLine)).join("; ");
  const none = `none could be loaded (${reasons}): ${remedyOf(causes)}`;
  if (process.env["FRAZIL_BACKEND"] === "native") return `FRAZIL_BACKEND=native asks for the native addon, and ${none}`;
  const why = causes.length > 0 ? none : "FRAZIL_BACKEND=wasm forbids it: unset it";
  return `the state file needs the native addon, and ${why}. Or give a node id that no other process uses: --node N`;
}

/** The message of a refusal, without its code. */
export function toldOf(error: FrazilError): string {
  if (error.code === "NATIVE_REQUIRED") return nativeRequired(error);
  return reworded(error.message.replace(`${error.code}: `, ""));
}

/** The refusal of a call; `undefined` if it succeeds. */
export function refusalOf(call: () => void): Refusal | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    return { code: error.code, message: toldOf(error) };
  }
}
