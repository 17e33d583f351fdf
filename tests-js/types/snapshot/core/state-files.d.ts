/**
 * State files: options, opening, and errors of `Snowflake.local()` on the native addon. Only bundles for Node contain
 * this.
 */
/** The state file of a `Snowflake.local()`. */
export interface StateFile {
    readonly path: string;
    /** The kind of file system that holds it. */
    readonly fileSystem: string;
    /** The time up to which IDs are reserved on disk, in Unix milliseconds. No ID from this time on has been issued. */
    readonly ceilingMs: number;
    /** How many processes have the file open, including this one; `undefined` if that is unknown. */
    readonly attached: number | undefined;
    /** How often this process raised the ceiling (`ceilingMs`), in the background or during a call. */
    readonly raises: number;
    /** How far the clock is ahead of the time that is used in its place, in milliseconds; 0 if the clock is trusted. */
    readonly distrustedMs: number;
    /**
     * Whether the mapped state is locked in memory. If it is not, a page that could not be written to disk may be read
     * back with its old content.
     */
    readonly locked: boolean;
    /**
     * Whether this process may not read a directory above the file. Then it cannot tell whether another file of the same
     * name is in use, so each start waits 3 s.
     */
    readonly blind: boolean;
}
