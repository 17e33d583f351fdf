/** What a command is, for the table of commands, the help, and the check of its flags. */
import type { FlagName, Flags } from "./flags.js";

export interface Command {
  readonly name: string;
  /** What it does, in one line of the list of commands. */
  readonly summary: string;
  /** What follows the name: its arguments. */
  readonly usage: string;
  /** Command lines with what each does. */
  readonly examples: readonly (readonly [args: string, does: string])[];
  /** What else the help says. */
  readonly notes?: string;
  /** The flags that it reads. Others are refused, since `--nodes 7` is easily written for `--node 7`. */
  readonly flags: readonly FlagName[];
  /** What the help says about a flag that means something else here. */
  readonly meanings?: { readonly [flag in FlagName]?: readonly [value: string, help: string] };
  /** Whether it takes arguments besides flags. */
  readonly takesArguments?: true;
  /** The command line that arguments probably mean, where it takes none. */
  readonly meant?: (args: readonly string[]) => string | undefined;
  /** Does it. Returns the exit code. */
  readonly run: (flags: Flags, positionals: readonly string[]) => Promise<number> | number;
}
