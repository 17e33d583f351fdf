/** A wrong use of the command line. After a line break, the message says what to write instead. The exit code is 2. */
export class UsageError extends Error {}
