/** The flags of all commands, in one table, with their parsing and their help. */
import { parseArgs } from "node:util";
import { Layout } from "frazil";
import { show } from "../base/errors.js";
import { hintOf } from "../base/option-keys.js";
import { FORM_LIST } from "./forms.js";
import { listText } from "./output.js";
import { shownArgument, UsageError } from "./usage-error.js";

interface Flag {
  /** Its one-letter form. */
  readonly short?: string;
  /** The name of its value in the help. Absent for a flag without a value. */
  readonly value?: string;
  readonly multiple?: true;
  /** The text of the help. A command may replace it. */
  readonly help: string;
}

const TABLE = {
  node: {
    short: "n",
    value: "N",
    help: 'the node id of this process. No state file is used then, so two processes with one node id can\nrepeat each other\'s IDs. Also parts by name: datacenter=3,worker=17. "none" for a layout without a\nnode field',
  },
  dir: {
    value: "PATH",
    help: "the directory of the state file (default, another for each user: frazil in\n$STATE_DIRECTORY, $XDG_STATE_HOME or ~/.local/state)",
  },
  scope: { value: "NAME", help: "the name of the ID space (default: default)" },
  "accept-unproven-platform": {
    help: "use the state file on a platform where that is not proven, and IDs might repeat",
  },
  layout: {
    short: "l",
    value: "NAME",
    help: `${listText(Layout.names)} (default: default);\nor a layout of your own as JSON: '{"epochMs":…,"tickMs":…,"fields":[{"kind":"time","bits":41},…]}'`,
  },
  epoch: {
    value: "TIME",
    help: "another epoch for the layout: a day (in UTC), a time with its zone, or Unix milliseconds",
  },
  count: { short: "c", value: "N", help: "how many to mint (default: 1)" },
  from: { value: "FORM", help: `the form of the IDs that are read (default: decimal):\n${FORM_LIST}` },
  to: { value: "TIME", help: "the first time that is not in the range" },
  as: {
    value: "FORM",
    help: `the form of the IDs that are printed (default: decimal):\n${FORM_LIST};\nwith -short after it (base62-short), without leading zero digits`,
  },
  nodes: {
    value: "0-99",
    help: "the node ids to grant (default: all of the layout but the last, which local() takes)",
  },
  "window-max": { value: "MS", help: "the longest window of a lease (default: 60000; d1: 600000)" },
  tag: {
    value: "NAME",
    multiple: true,
    help: "for postgres, mysql, redis and d1: the name of a counter, in place of a scope. Repeat it for more",
  },
  first: { value: "N", help: "with --tag: the first number (default: 1), such as one above those of a sequence" },
  role: { value: "NAME", help: "for postgres and mysql: who gets the rights" },
  schema: { value: "NAME", help: "for postgres: where the tables are" },
  down: { help: "what removes the functions instead" },
  partition: { value: "STEP", help: "partitions of --table by day, week or month, in UTC" },
  table: { value: "NAME", help: "with --partition: the table, whose column is id" },
  database: { value: "NAME", help: "for mysql: where the tables are" },
  prefix: { value: "PATH", help: "for etcd and zookeeper: where the keys are" },
  acl: { value: "TEXT", help: "for zookeeper: the ACL of the znodes, as zkCli takes it" },
  "node-ids-from": {
    value: "TABLE",
    help: "for mysql: worker-node[:TABLE] | cosid:NAMESPACE | none. The table that a fleet of UidGenerator\n(WORKER_NODE) or CosId (cosid_machine) takes its node ids from, to mint beside it; none: beside\nsuch a table, but not for its IDs",
  },
  incarnation: {
    value: "TEXT",
    help: "for postgres, mysql (SQL) and redis (Lua): the expression that tells a server\nfrom one that lost writes, or the name of one, such as postgres-with-start, or\nnone-accepting-repeats-after-failover",
  },
  kind: { value: "NAME", help: "the kind of the IDs, as in publicIds({ kind })" },
  form: { value: "FORM", help: "sealed or short: what the derived key is for (default: sealed)" },
  "key-file": {
    value: "PATH",
    multiple: true,
    help: "a file with a key. Repeat it for older keys: the first one seals, and all of them open",
  },
  "key-env": { value: "NAME", multiple: true, help: "the same from environment variables" },
  column: {
    value: "NAME|N",
    help: "on standard input: a column of CSV, or between tabs, by its name in the first row or, without\nsuch a row, by its number from 1. It alone is replaced",
  },
  format: {
    value: "FORMAT",
    help: "lines, csv, ndjson, or raw (64 bits each, little endian). Without it, by the first bytes",
  },
  id: { value: "NAME", help: "the column of CSV, or the key of NDJSON, with the IDs (default: id)" },
  host: {
    value: "NAME",
    help: "the column or key of the process or machine, to find node ids that two share (default: host)",
  },
  "created-at": {
    value: "NAME",
    help: "the column or key of the row's time, to compare with the ID's (default: created_at)",
  },
  memory: { value: "SIZE", help: "how much memory the IDs may take, at least 1M (default: 256M)" },
  now: { value: "TIME", help: "the time after which an ID is in the future (default: now)" },
  "fix-report": { help: "the rows to look at instead, as CSV with their lines. Reads the files twice" },
  grep: {
    help: `the input as it is, with [time node sequence] after each decimal ID whose time is\nafter the first day of the epoch, and at most a day ahead`,
  },
  json: { help: "print one JSON value a line, for programs; IDs are text" },
  help: { short: "h", help: "show the help of the command" },
  version: { short: "v", help: "show the version" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof TABLE;
export const FLAGS: { readonly [name in FlagName]: Flag } = TABLE;

type ValueOf<F> = F extends { readonly multiple: true }
  ? string[]
  : F extends { readonly value: string }
    ? string
    : true;
/** The flags that were given. */
export type Flags = { readonly [name in FlagName]?: ValueOf<(typeof TABLE)[name]> };

const NAMES = Object.keys(TABLE) as FlagName[];
const isFlag = (name: string): name is FlagName => Object.hasOwn(TABLE, name);

/** The flags whose value can be negative. */
const NEGATIVE: readonly FlagName[] = ["from", "to", "epoch", "now"];

/** Other programs' names for a flag. */
const OTHER_NAMES: readonly (readonly [RegExp, FlagName])[] = [
  [/^(num(ber)?|amount|lines|limit|quantity|times)$/, "count"],
  [/^(node-?id|machine(-?id)?|worker(-?id)?|instance)$/, "node"],
  [/^(directory|path|state)$/, "dir"],
  [/^(since|start|after|begin)$/, "from"],
  [/^(until|till|end|before)$/, "to"],
  [/^(output|encoding)$/, "as"],
  [/^(key|secret)$/, "key-file"],
  [/^V$/, "version"],
];

/**
 * The hint for an unknown flag: one of `known`. Dashes do not count as common letters.
 */
function flagHint(name: string, known: readonly FlagName[]): string {
  const other = OTHER_NAMES.find(([names, flag]) => names.test(name) && known.includes(flag))?.[1];
  if (other !== undefined) return `Did you mean --${other}?`;
  return hintOf(name.toLowerCase(), known.join(", "), "").replace(/"(.*)"/, "--$1");
}

/** Refuses `-layout`, which would be read as `-l ayout`. */
function checkDashes(args: readonly string[]): void {
  for (const arg of args) {
    if (arg === "--") return;
    const [name = ""] = arg.slice(1).split("=");
    if (arg.startsWith("-") && name.length > 1 && isFlag(name))
      throw new UsageError(`${shownArgument(arg)} has one dash\nWrite ${shownArgument(`-${arg}`)}`);
  }
}

/** The hint for `-5`, which is read as an option. */
function numberHint(text: string, command: string | undefined): string {
  if (!/^-\d+$/.test(text)) return "";
  if (command === "next") return `npx frazil next --count ${text.slice(1)} mints as many.`;
  if (command !== "decode" && command !== "convert") return "";
  return `A negative number stands last, after --: npx frazil convert --from signed -- ${text}`;
}

/** The arguments, in their order. */
const parsed = (args: string[]) =>
  parseArgs({
    args,
    options: Object.fromEntries(
      NAMES.map((name) => {
        const { short, value, multiple = false } = FLAGS[name];
        return [name, { type: value === undefined ? "boolean" : "string", multiple, ...(short && { short }) } as const];
      }),
    ),
    allowPositionals: true,
    // Errors are found here, where the message can say what to write.
    strict: false,
    tokens: true,
  });

/**
 * Reads the arguments. `flagsOf`: the flags of the command of a name, if there is one.
 *
 * @throws {UsageError} for an unknown flag, with the nearest name; for a missing or unexpected value; and for a repeated flag, because one
 * value would be lost.
 */
export function readArguments(
  args: string[],
  flagsOf: (command: string) => readonly FlagName[] | undefined,
): { flags: Flags; positionals: string[] } {
  checkDashes(args);
  const { values, positionals, tokens } = parsed(args);
  const [command] = positionals;
  const seen = new Map<FlagName, string | undefined>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue, index } = token;
    if (!isFlag(name)) {
      const number = numberHint(args[index] as string, command);
      const known = (command === undefined ? undefined : flagsOf(command)) ?? NAMES;
      throw new UsageError(
        `${shownArgument((number ? args[index] : rawName) as string)} is not an option\n${number || flagHint(name, known)}`,
      );
    }
    const { value: wanted, help, multiple } = FLAGS[name] as Flag;
    if (wanted === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    if (wanted !== undefined && value === undefined) {
      const meaning = rawName === `--${name}` ? "" : ` (--${name}: ${help.split(/ \(|\.|\n/)[0]})`;
      throw new UsageError(`${rawName} needs a value\n${rawName} ${wanted}${meaning}`);
    }
    if (!inlineValue && value !== undefined && /^-./.test(value)) {
      const isMeant = /^-\d/.test(value) && NEGATIVE.includes(name) ? `\nWrite --${name}=${value}` : "";
      throw new UsageError(`${rawName} needs a value, and is followed by ${shownArgument(value)}${isMeant}`);
    }
    if (seen.has(name) && !multiple) {
      const both =
        wanted === undefined ? "" : `, as ${shownArgument(`${seen.get(name)}`)} and as ${shownArgument(`${value}`)}`;
      throw new UsageError(`--${name} is given twice${both}\nGive it once.`);
    }
    seen.set(name, value);
  }
  return { flags: values as Flags, positionals };
}

/** A whole number given as text. The callee checks its range. */
export function wholeNumber(flag: FlagName, text: string): number {
  const number = Number(wholeBigint(flag, text));
  if (Number.isSafeInteger(number)) return number;
  throw new UsageError(`--${flag} must be below 2^53, got ${show(text)}`);
}

/** The same above 2^53. */
export function wholeBigint(flag: FlagName, text: string): bigint {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${flag} must be an integer in digits only, got ${show(text)}`);
  return BigInt(text);
}

/** The given options, by their names in the package. */
export const given = <T extends object>(options: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
