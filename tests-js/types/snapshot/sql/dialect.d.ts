export type Type = "id" | "node" | "time" | "text";
export interface Definition {
    readonly name: string;
    readonly parameters: readonly (readonly [name: string, type: Type])[];
    readonly returns: Type;
    readonly body: string;
}
export interface Dialect {
    readonly runOn?: string;
    readonly notes?: readonly string[];
    readonly isSigned?: true;
    readonly isUnchecked?: true;
    readonly schema?: {
        readonly quote: string;
        readonly pattern: RegExp;
        readonly rule: string;
    };
    readonly unsigned?: (value: string) => string;
    readonly field: (value: string, shift: number, bits: number | undefined) => string;
    readonly divide: (value: string, by: bigint | number) => string;
    readonly modulo: (value: string, by: number) => string;
    readonly charAt: (text: string, index: string) => string;
    readonly indexIn: (alphabet: string, text: string, at: number) => string;
    readonly join: (texts: readonly string[]) => string;
    readonly isBase62: (text: string) => string;
    readonly binary: (text: string) => string;
    readonly timeOf: (ms: string, lastMs: number) => string;
    readonly msOf: (time: string) => string;
    readonly define: (prefix: string, definition: Definition, isUnsigned: boolean, isBigNode: boolean) => string;
    readonly drop: (prefix: string, definition: Definition) => string;
}
