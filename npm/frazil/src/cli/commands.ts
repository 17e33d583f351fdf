/** The commands, and finding the intended one. */
import { Layout } from "frazil";
import { hintOf } from "../base/option-keys.js";
import { audit } from "./audit/index.js";
import type { Command } from "./command.js";
import { convert } from "./convert.js";
import { ddl } from "./ddl.js";
import { decode } from "./decode.js";
import { doctor } from "./doctor.js";
import { fence } from "./fence.js";
import type { FlagName, Flags } from "./flags.js";
import { withoutN } from "./forms.js";
import { key } from "./key.js";
import { layouts } from "./layouts.js";
import { next } from "./next.js";
import { plan } from "./plan.js";
import { range } from "./range.js";
import { open, seal } from "./sealed.js";
import { sql } from "./sql.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  next,
  decode,
  convert,
  range,
  layouts,
  plan,
  sql,
  doctor,
  ddl,
  fence,
  key,
  seal,
  open,
  audit,
];

/** Other words that people type for a command. */
const OTHER_NAMES: readonly (readonly [RegExp, Command])[] = [
  [/^(gen(erate)?|new|mint|create|make|id|ids|uuid|snowflake)$/i, next],
  [/^(parse|read|inspect|explain|show|timestamp|date)$/i, decode],
  [/^(encode|format|text|base\d+|hex)$/i, convert],
  [/^(between|times?|bounds|min|max)$/i, range],
  [/^(list|ls)$/i, layouts],
  [/^(capacity|limits|info)$/i, plan],
  [/^(check|health|status|env|diagnose|diagnostics|where|test)$/i, doctor],
  [/^(restored?|recover(y)?|failback|failover)$/i, fence],
  [/^(schema|init|migrate|migration|setup)$/i, ddl],
  [/^(keys|keygen|derive|fingerprint|secret)$/i, key],
  [/^(encrypt|encipher|hide|public)$/i, seal],
  [/^(unseal|decrypt|decipher|reveal)$/i, open],
  [/^(analy[sz]e|duplicates?|dupes?|repeats?|verify|scan|incident)$/i, audit],
];

/**
 * The command of a name.
 *
 * @throws {UsageError} if there is none, with the one that was probably meant.
 */
export function commandOf(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const other = OTHER_NAMES.find(([names]) => names.test(name))?.[1];
  if (other !== undefined)
    throw new UsageError(`${shownArgument(name)} is not a command\nUse npx frazil ${other.name} (${other.summary}).`);
  if (Layout.named("default").tryParse(withoutN(name)) !== undefined && name.length > 3)
    throw new UsageError(`${name} is not a command\nnpx frazil decode ${name} shows the fields of an ID.`);
  const names = [...COMMANDS.map((command) => command.name), "help", "--version", "--help"].join(", ");
  throw new UsageError(`${shownArgument(name)} is not a command\n${hintOf(name.toLowerCase(), names)}`);
}

/** The probable meaning of arguments of a command that takes only options. */
export function meantBy({ name, usage, flags, meant }: Command, args: readonly string[]): string {
  const own = meant?.(args);
  if (own !== undefined) return `npx frazil ${own}`;
  const [argument = ""] = args;
  if ((Layout.names as readonly string[]).includes(argument))
    return `npx frazil ${flags.includes("layout") && !usage ? name : plan.name} --layout ${argument}`;
  return `${name} takes ${usage ? `only options: ${usage}` : "options only."}`;
}

/** Flags that people mistake for another one, in commands that have only the latter. */
const MISTAKEN: readonly (readonly [FlagName, FlagName])[] = [
  ["to", "as"],
  ["as", "from"],
  ["format", "as"],
];

/** Refuses a flag that the command does not read, and names the commands that do. */
export function checkFlags({ name, flags: known }: Command, given: Flags): void {
  const stray = (Object.keys(given) as FlagName[]).find((flag) => !known.includes(flag));
  if (stray === undefined) return;
  const [, meant] = MISTAKEN.find(([flag, other]) => flag === stray && known.includes(other)) ?? [];
  const near =
    meant === undefined ? hintOf(stray, known.join(", "), "").replace(/"(.*)"/, "--$1") : `Did you mean --${meant}?`;
  const readers = COMMANDS.filter(({ flags }) => flags.includes(stray)).map((command) => command.name);
  throw new UsageError(`--${stray} is for ${readers.join(", ")}, not for ${name}\n${near}`);
}
