/** The node id of `--node`: a number, the parts of a layout by name, or "none". */
import type { NodeInput } from "frazil";
import { show } from "../base/errors.js";
import { wholeNumber } from "./flags.js";
import { UsageError } from "./usage-error.js";

/** A node id of any layout. The callee checks it. */
export type NodeId = NodeInput<string> | "none";

/** A part as `decode` prints it, in a line (`worker=17`) and as JSON (`"worker":17`), and as Node prints an object (`worker: 17`). */
const PART = /^["']?([A-Za-z][\w-]*)["']?\s*[=:]\s*(\d+)$/;

/** The parts of a text, with or without braces around them; `undefined` if it is something else. */
function partsOf(text: string): Record<string, number> | undefined {
  const [, list = text] = /^\s*\{(.*)\}\s*$/s.exec(text) ?? [];
  const parts = list
    .trim()
    .split(/\s*,\s*|(?<=\d)\s+/)
    .map((part) => PART.exec(part));
  if (!parts.every((part) => part !== null)) return undefined;
  const entries = parts.map(([, name, value]) => [name as string, wholeNumber("node", value as string)] as const);
  const twice = entries.find(([name], at) => entries.findIndex(([other]) => other === name) !== at);
  if (twice !== undefined) throw new UsageError(`--node has ${twice[0]} twice\nGive each part once.`);
  return Object.fromEntries(entries);
}

export function nodeOf(text: string): NodeId {
  if (text === "none") return text;
  if (/^\d+$/.test(text)) return wholeNumber("node", text);
  const parts = partsOf(text);
  if (parts === undefined)
    throw new UsageError(
      `--node must be an integer, the parts of the layout by name (datacenter=3,worker=17), or none, got ${show(text)}`,
    );
  return parts;
}
