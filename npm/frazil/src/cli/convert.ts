/** `npx frazil convert`: IDs in another form. */
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { formOf } from "./forms.js";
import { hintFor } from "./hints.js";
import { answerArguments, answerLines, readsLines } from "./input.js";
import { UsageError } from "./usage-error.js";

const READER = { command: "convert", example: "convert 1541815603606036480 --as base62" };

/** The command line for texts without a form. */
function needsForm(ids: readonly string[], flags: Flags): string {
  const [id = "1541815603606036480"] = ids.filter((text) => /^\d{1,20}$/.test(text));
  const hint = ids.filter((text) => text !== id).map((text) => hintFor("convert", text, flags));
  return `convert needs a form\nnpx frazil convert ${id} --as base62${hint.find(Boolean)?.replace(/^/, ". ") ?? ""}`;
}

async function run(flags: Flags, ids: readonly string[]): Promise<number> {
  if (flags.from === undefined && flags.as === undefined) throw new UsageError(needsForm(ids, flags));
  const [from, as] = [formOf("from", flags.from), formOf("as", flags.as)];
  const answer = (text: string) => {
    const converted = as.print(from.read(text));
    return flags.json ? JSON.stringify(converted) : converted;
  };
  if (readsLines(READER, flags, ids)) return answerLines(READER, ids.length > 0, answer);
  return answerArguments(ids, answer, (text) => hintFor("convert", text, flags));
}

export const convert: Command = {
  name: "convert",
  summary: "IDs in another form: base62, hex, signed, …",
  usage: "[ID … | -] [--from FORM] [--as FORM]",
  examples: [
    ["convert 1541815603606036480 --as base62", "1ptWyK4WgZU"],
    ["convert --from base62 --as hex 1ptWyK4WgZU", "1565a11f6217a000"],
    ["convert - --as signed < ids.txt", "as a signed column stores them, one a line"],
  ],
  flags: ["from", "as", "json"],
  takesArguments: true,
  run,
};
