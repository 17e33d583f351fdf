/** State files, as the native addon has them. Only bundles for Node carry this. */
import { type ErrorCode, type ErrorDetails, type FrazilError } from "./errors.js";
import type { Files, Port } from "./port.js";
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
}
/** What a port can do besides, with the addon's calls. */
export declare const withFiles: (calls: Files) => {
    /** Opens the state file that the options name; the layout and the rest stand in the page. Returns the status. */
    open(port: Port, given: Record<string, unknown>): number;
    /** What is known of the state file. */
    file(port: Port, handle: number): StateFile;
    /** What the last refusal is about, where every port does not know it. */
    subject: ({ numbers }: Port) => string | undefined;
    /** The error of a status, where it has a text, or where every port does not know it. */
    error(port: Port, code: ErrorCode | undefined, status: number, value: unknown, details?: ErrorDetails): FrazilError | undefined;
};
