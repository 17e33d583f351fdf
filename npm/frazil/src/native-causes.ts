/** Why no native addon could be loaded: the errors of the attempts, as one error and as one line of text. */

export const noAddonError = (causes: readonly unknown[]): AggregateError =>
  new AggregateError(causes, "no native addon could be loaded");

/** The first line of the message of an error. */
export const firstLine = (error: unknown): string => (error as Error).message.split("\n")[0] as string;

/** The first line of each message. */
export const reasonsOf = (causes: readonly unknown[]): string => causes.map(firstLine).join("; ");
