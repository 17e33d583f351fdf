/** The state file of a `Snowflake.local()`. */
export interface StateFile {
    readonly path: string;
    /** The kind of file system that holds it. */
    readonly fileSystem: string;
    /** What has been reserved on disk, in Unix milliseconds: nothing from there on has been issued. */
    readonly ceilingMs: number;
    /** How many processes are attached to it, this one included; `undefined` where that cannot be told. */
    readonly attached: number | undefined;
    /** How often this process raised the ceiling, in the background or for a call. */
    readonly raises: number;
    /** How far the clock is ahead of the time that is believed instead; 0 where it is believed. */
    readonly distrustedMs: number;
    /** Whether the mapped state is locked in memory, so that a page which could not be written is not read again as it was. */
    readonly locked: boolean;
    /** Whether a directory above it may not be read, so that another file of its name could be in use unseen: a start waits 3 s then. */
    readonly blind: boolean;
}
