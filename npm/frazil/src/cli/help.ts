/** The texts of the help, made from the tables of commands and flags. */
import type { Command } from "./command.js";
import { FLAGS, type FlagName } from "./flags.js";

/** Two columns, the second one at the same place in each row and in the lines that follow. */
function columns(rows: readonly (readonly [string, string])[], width: number): string {
  const indent = `\n${" ".repeat(width)}`;
  return rows
    .map(([left, right]) => {
      if (right === "") return `  ${left}\n`;
      const first = `  ${left}`;
      return `${first.length < width - 1 ? first.padEnd(width) : `${first}${indent}`}${right.replaceAll("\n", indent)}\n`;
    })
    .join("");
}

/** The help of `npx frazil`. */
export function helpOf(commands: readonly Command[]): string {
  const examples = commands.flatMap(({ examples }) => examples.slice(0, 1)).map(([args]) => `  npx frazil ${args}\n`);
  return `frazil: Snowflake IDs, 64-bit, time-ordered, unique across machines as long as their node ids differ

Commands
${columns(
  commands.map(({ name, summary }) => [name, summary]),
  12,
)}  help COMMAND, --version

npx frazil help COMMAND shows what it takes.

Examples
${examples.join("")}  npx frazil ddl postgres --tag orders
  cat ids.txt | npx frazil decode --json

An ID is digits only. Pass it as text: a JavaScript number loses the last digits of an ID this long.
The exit code is 1 for a refusal, which has a code, and 2 for a command line that cannot be read.
`;
}

/** The help of a command. */
export function helpOfCommand({ name, summary, usage, examples, notes, flags, meanings = {} }: Command): string {
  const rows = [...flags, "help" as const].map((flag: FlagName): [string, string] => {
    const { short, value, help } = FLAGS[flag];
    const [ownValue, ownHelp] = meanings[flag] ?? [value, help];
    return [`${short ? `-${short}, ` : "    "}--${flag}${ownValue ? ` ${ownValue}` : ""}`, ownHelp];
  });
  return `npx frazil ${name}${usage && ` ${usage}`}: ${summary}

Examples
${columns(
  examples.map(([args, does]) => [`npx frazil ${args}`, does]),
  60,
)}${notes === undefined ? "" : `\n${notes}\n`}
Options
${columns(rows, 24)}`;
}
