/** `npx frazil convert`: IDs in another form. */
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { formOf } from "./forms.js";
import { answerArguments, answerLines, readsLines } from "./input.js";
import { hintFor } from "./likely-inputs.js";
import { UsageError } from "./usage-error.js";

const READER = { command: "convert", example: "convert 1541815603606036480 --as base62" };

async function run(flags: Flags, ids: readonly string[]): Promise<number> {
  if (flags.from === undefined && flags.as === undefined)
    throw new UsageError(
      `convert needs a form: npx frazil convert 1541815603606036480 --as base62${ids.map((id) => hintFor("convert", id, flags)).find(Boolean) ?? ""}`,
    );
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
