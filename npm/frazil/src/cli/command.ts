/** A command, for the table of commands, the help, and the check of its flags. */
import type { FlagName, Flags } from "./flags.js";

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Its arguments, after the name. */
  readonly usage: string;
  /** Command lines, each with its effect. */
  readonly examples: readonly (readonly [args: string, does: string])[];
  /** Further text of the help. */
  readonly notes?: string;
  /** The flags that it reads. Others are refused: `--nodes 7` is easily typed for `--node 7`. */
  readonly flags: readonly FlagName[];
  /** The help for flags with another meaning here. */
  readonly meanings?: { readonly [flag in FlagName]?: readonly [value: string, help: string] };
  /** Whether it takes arguments besides flags. */
  readonly takesArguments?: true;
  /** The command line that the arguments probably mean, if it takes none. */
  readonly meant?: (args: readonly string[]) => string | undefined;
  /** Runs it. Returns the exit code. */
  readonly run: (flags: Flags, positionals: readonly string[]) => Promise<number> | number;
}
