/** What the dialects of SQL differ in: how each writes integers, texts, times and functions. */

/** The types of parameters and results. */
export type Type = "id" | "node" | "time" | "text";

/** A function: a single expression of its parameters. */
export interface Definition {
  readonly name: string;
  readonly parameters: readonly (readonly [name: string, type: Type])[];
  readonly returns: Type;
  readonly body: string;
}

export interface Dialect {
  /** The program that runs it in the tests, or `undefined` if none was to be had. */
  readonly runOn?: string;
  /** Further lines of the first comment. */
  readonly notes?: readonly string[];
  /** Whether integers have 64 bits with a sign only, so that IDs from 2^63 on are negative. */
  readonly isSigned?: true;
  /** Whether a function has no null for a number that is no ID of the layout. */
  readonly isUnchecked?: true;
  /** What quotes the name of a schema; `undefined` if functions are in none. */
  readonly schema?: { readonly quote: string; readonly pattern: RegExp; readonly rule: string };
  /** A number as an unsigned one, before products that need 64 bits. */
  readonly unsigned?: (value: string) => string;
  /** `bits` bits of a number, from the bit `shift` on. Without `bits`: all of them. */
  readonly field: (value: string, shift: number, bits: number | undefined) => string;
  readonly divide: (value: string, by: bigint | number) => string;
  readonly modulo: (value: string, by: number) => string;
  /** The character of a text at an index from 0. */
  readonly charAt: (text: string, index: string) => string;
  /** The index of the character of `text` at `at`, from 1, in an alphabet, or -1. */
  readonly indexIn: (alphabet: string, text: string, at: number) => string;
  readonly join: (texts: readonly string[]) => string;
  /** Whether a text has 11 letters and digits of ASCII. */
  readonly isBase62: (text: string) => string;
  /** `text`, compared by its bytes. */
  readonly binary: (text: string) => string;
  /** The time of Unix milliseconds up to `lastMs`, and back, rounded down (from 1970 on). */
  readonly timeOf: (ms: string, lastMs: number) => string;
  readonly msOf: (time: string) => string;
  readonly define: (prefix: string, definition: Definition, isUnsigned: boolean, isBigNode: boolean) => string;
  readonly drop: (prefix: string, definition: Definition) => string;
}
