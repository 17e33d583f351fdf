/** `npx frazil next`: mints IDs. */
import { Snowflake } from "frazil";
import { layoutOf } from "./chosen-layout.js";
import { nodeOf } from "./chosen-node.js";
import type { Command } from "./command.js";
import { type Flags, given, wholeNumber } from "./flags.js";
import { formOf } from "./forms.js";
import { print } from "./output.js";
import { UsageError } from "./usage-error.js";

/** The number of IDs that are minted before printing. */
const BATCH = 16_384;

/** The flags of the state file, which a static node id does not have. */
const FILE_FLAGS = ["dir", "scope", "accept-unproven-platform"] as const;

/** Refuses flags of the state file beside `--node`. */
export function checkFileFlags(flags: Flags): void {
  const other = FILE_FLAGS.find((flag) => flags.node !== undefined && flags[flag] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--node and --${other} exclude each other\nA static node id has no state file.`);
}

/** The generator that the flags ask for. */
function generatorOf(flags: Flags): Snowflake<never> {
  checkFileFlags(flags);
  const { node, dir, scope, "accept-unproven-platform": acceptUnprovenPlatform } = flags;
  const options = { layout: layoutOf(flags), maxWaitMs: 5000 };
  if (node === undefined)
    return Snowflake.local({ ...options, ...given({ dir, scope, acceptUnprovenPlatform }) }) as Snowflake<never>;
  return new Snowflake({ ...options, node: nodeOf(node) as never }) as Snowflake<never>;
}

async function run(flags: Flags): Promise<number> {
  const wanted = wholeNumber("count", flags.count ?? "1");
  const { print: textOf } = formOf("as", flags.as);
  using ids = generatorOf(flags);
  for (let left = wanted; left > 0; left -= BATCH) {
    const texts = ids.nextMany(Math.min(left, BATCH)).map(textOf);
    await print(texts.map((text) => `${flags.json ? JSON.stringify(text) : text}\n`).join(""));
  }
  return 0;
}

export const next: Command = {
  name: "next",
  summary: "mint IDs: one, or --count N",
  usage: "",
  examples: [
    ["next", "one, from the state file of this machine and user"],
    ["next --node 7 --count 3", "three, with a node id that no other process uses"],
    ['next --dir "$PWD/state" --scope orders --as base62', "from a state file of your own, as text for links"],
  ],
  notes: "-n is the node id, not how many: that is -c, --count.",
  flags: ["node", "dir", "scope", "accept-unproven-platform", "layout", "epoch", "count", "as", "json"],
  meant: ([count = "", ...rest]) =>
    /^\d{1,9}$/.test(count) && rest.length === 0 ? `next --count ${count}` : undefined,
  run,
};
