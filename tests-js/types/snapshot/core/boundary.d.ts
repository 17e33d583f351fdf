export type Backend = "native" | "wasm";
