/** Why no native addon could be loaded: the errors of the attempts, as one error and as one line of text, and what to do. */

export const noAddonError = (causes: readonly unknown[]): AggregateError =>
  new AggregateError(causes, "no native addon could be loaded");

/** The first line of the message of an error. */
export const firstLine = (error: unknown): string => (error as Error).message.split("\n")[0] as string;

/** The first line of each message. */
export const reasonsOf = (causes: readonly unknown[]): string => causes.map(firstLine).join("; ");

const OF_ANOTHER_SYSTEM = "for another system";

/** The error for packages of the addon that are installed where this system finds none of its own. */
export const ofAnotherSystem = (names: readonly string[]): Error =>
  new Error(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} installed, ${OF_ANOTHER_SYSTEM}`);

/** What to do, by the causes. */
export function remedyOf(causes: readonly unknown[]): string {
  const lines = causes.map(firstLine);
  const { platform, arch } = process;
  if (lines.some((line) => line.endsWith(OF_ANOTHER_SYSTEM)))
    return `install on the system that runs the program, or for it: npm install --os=${platform} --cpu=${arch}${platform === "linux" ? " --libc=glibc (Alpine: musl)" : ""}`;
  if (lines.some((line) => line.startsWith("Dynamic require")))
    return "give the bundle a require by esbuild's --banner (docs/bundlers.md)";
  return 'install without --omit=optional; in a bundle keep frazil external, or write import "frazil/native" first (docs/bundlers.md)';
}
