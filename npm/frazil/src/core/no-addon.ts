/** Why no native addon loaded: the errors of all attempts, as one error and as one line of text, and what to do. */

/** `undefined` if none was tried because the environment forbids it. */
export const noAddonError = (causes: readonly unknown[]): AggregateError | undefined =>
  causes.length > 0 ? new AggregateError(causes, "no native addon could be loaded") : undefined;

/** The first line of the message of an error. */
export const firstLine = (error: unknown): string =>
  String((error as Error | null)?.message ?? error).split("\n")[0] as string;

/** The first line of each message. */
export const reasonsOf = (causes: readonly unknown[]): string => causes.map(firstLine).join("; ");

const OF_ANOTHER_SYSTEM = "for another system";

/** The error if only packages for other systems are installed. */
export const ofAnotherSystem = (names: readonly string[]): Error =>
  new Error(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} installed, ${OF_ANOTHER_SYSTEM}`);

const NONE_FOR = "there is no addon for ";

/** The error for a system without a package of the addon. */
export const noneFor = (system: string): Error => new Error(`${NONE_FOR}${system}`);

/** The loader of a musl or glibc system does not find the other C library. */
const OTHER_LIBC = /\blibc\.so: |\bld-linux-/;

/** The flag for Node's permission model, which is experimental in Node 20. */
const permissionFlag = () =>
  process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";

/** The remedy for these causes. */
export function remedyOf(causes: readonly unknown[]): string {
  const { platform, arch } = process;
  const isOneOf = (test: (line: string, code: unknown) => boolean) =>
    causes.some((cause) => test(firstLine(cause), (cause as { code?: unknown } | null)?.code));
  if (isOneOf((line) => line.startsWith(NONE_FOR))) return 'Run on a system that has one. See the page "Platforms".';
  if (isOneOf((line) => line.endsWith(OF_ANOTHER_SYSTEM) || OTHER_LIBC.test(line)))
    return `Install on the system that runs the program, or for it: npm install --os=${platform} --cpu=${arch}${platform === "linux" ? " --libc=glibc (Alpine: musl)" : ""}.`;
  if (isOneOf((line) => line.startsWith("Dynamic require")))
    return `Give the bundle a require. With esbuild: --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'`;
  if (isOneOf((line) => line.startsWith("the bundler gives")))
    return "Let the bundler copy .node files and load them: esbuild --loader:.node=copy, webpack node-loader.";
  if (isOneOf((_, code) => code === "ERR_DLOPEN_DISABLED"))
    return `Start without --no-addons. Under ${permissionFlag()}, add --allow-addons.`;
  if (isOneOf((_, code) => code === "ERR_DLOPEN_FAILED"))
    return 'The addon is installed, and this system cannot load it. See the page "Platforms".';
  return 'Install without --omit=optional. In a bundle keep frazil external, or write import "frazil/native" first.';
}
