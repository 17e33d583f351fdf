/** A wrong use of the command line. The message says what to write instead. The exit code is 2. */
export class UsageError extends Error {}
