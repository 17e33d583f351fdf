import { show } from "../base/errors.js";

/** An argument as it is written in a message: in quotes, and cut, where it is long or would look like more than one. */
export const shownArgument = (text: string): string => (/^\S{1,64}$/u.test(text) ? text : show(text));

/** A wrong use of the command line. After a line break the message says what to write instead. The exit code is 2. */
export class UsageError extends Error {}
