/** Errors as data: a class and its fields do not survive a call from one isolate to another. */
import { type ErrorDetails } from "../../base/errors.js";
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
