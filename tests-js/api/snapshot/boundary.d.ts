/** The boundary to the core: the types that the bindings and the rest of the package have in common. Imports nothing. */
/** Where the core runs. */
export type Backend = "native" | "wasm";
