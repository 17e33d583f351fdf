/** Where the core runs. */
export type Backend = "native" | "wasm";
