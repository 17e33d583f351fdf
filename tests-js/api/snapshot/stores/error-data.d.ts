/** Errors as data: a class and its fields do not survive a call from one isolate to another. */
import { type ErrorDetails, FrazilError } from "../errors.js";
/** An error of this package, without its cause. */
export interface ErrorData {
    readonly code: string;
    readonly message: string;
    readonly details: Omit<ErrorDetails, "cause">;
}
/** What a call came to. */
export type Reply<T> = {
    readonly value: T;
} | {
    readonly error: ErrorData;
};
/** The data of an error. Its message is without the code, as the constructor takes it. */
export declare function dataOf(error: FrazilError): ErrorData;
/** The error of such data. */
export declare function errorOfData({ code, message, details }: ErrorData): FrazilError;
/** Runs work, and returns what it came to as data. @throws whatever is no error of this package. */
export declare function replyOf<T>(work: () => T): Reply<T>;
