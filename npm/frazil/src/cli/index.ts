#!/usr/bin/env node
/** The command line tool, `npx frazil`. It reads arguments and prints; the package does the rest. */
import { FrazilError } from "frazil";
import { COMMANDS, checkFlags, commandOf, meantBy } from "./commands.js";
import { readArguments } from "./flags.js";
import { helpOf, helpOfCommand } from "./help.js";
import { complain, endWithReader, leaveOutBackendWarning, print, told } from "./output.js";
import { toldOf } from "./refusal.js";
import { shownArgument, UsageError } from "./usage-error.js";
import { version } from "./version.js";

/** Prints a text and ends the command. */
async function printed(text: string): Promise<number> {
  await print(text);
  return 0;
}

async function main(args: string[]): Promise<number> {
  const { flags, positionals } = readArguments(args, (wanted) => COMMANDS.find(({ name }) => name === wanted)?.flags);
  const { help, version: isVersion, ...others } = flags;
  const [name, ...rest] = positionals;
  if (isVersion) return printed(`${version()}\n`);
  if (name === undefined && !help && Object.keys(others).length > 0)
    throw new UsageError(
      `${args.map(shownArgument).join(" ")} has no command\nUse one of ${COMMANDS.map((command) => command.name).join(", ")}.`,
    );
  const [about = "help"] = rest;
  if (name === undefined || (name === "help" && about === "help")) return printed(helpOf(COMMANDS));
  if (name === "help") return printed(helpOfCommand(commandOf(about)));
  const command = commandOf(name);
  if (help) return printed(helpOfCommand(command));
  checkFlags(command, others);
  if (rest.length > 0 && !command.takesArguments)
    throw new UsageError(`${rest.map(shownArgument).join(" ")} was not expected\n${meantBy(command, rest)}`);
  return command.run(others, rest);
}

/** For users who pass the count with -n, as for `head`. */
function countHint({ code }: FrazilError, args: readonly string[]): string {
  const [, count] = / -n ?(\d+)( |$)/.exec(args.join(" ")) ?? [];
  return code === "INVALID_NODE" && args[0] === "next" && count !== undefined
    ? `-n is the node id. How many is --count: npx frazil next --count ${count}`
    : "";
}

/** The text for an error, and the exit code: 1 for a refusal, 2 for wrong arguments. */
function answerTo(error: unknown, args: readonly string[]): [text: string, exitCode: number] {
  if (error instanceof UsageError) {
    const used = COMMANDS.find(({ name }) => args.includes(name));
    const [message = "", hint] = error.message.split("\n");
    return [`${told(message, hint)}\nnpx frazil ${used ? `help ${used.name}` : "--help"} shows what can be done.`, 2];
  }
  if (FrazilError.is(error)) {
    const { message, hint } = toldOf(error);
    return [told(`${error.code}: ${message}`, countHint(error, args) || hint), 1];
  }
  // A system error, such as for a file.
  if ((error as { syscall?: unknown }).syscall !== undefined) return [(error as Error).message, 1];
  throw error;
}

leaveOutBackendWarning();
endWithReader();
const args = process.argv.slice(2);
try {
  process.exitCode = await main(args);
} catch (error) {
  const [text, exitCode] = answerTo(error, args);
  process.exitCode = exitCode;
  await complain(`frazil: ${text}\n`);
}
