import { type ErrorDetails } from "../../base/errors.js";
export interface ErrorData {
    readonly code: string;
    readonly message: string;
    readonly details: Omit<ErrorDetails, "cause">;
}
export type Reply<T> = {
    readonly value: T;
} | {
    readonly error: ErrorData;
};
