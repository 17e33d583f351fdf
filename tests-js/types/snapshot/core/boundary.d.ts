/**
 * The boundary to the core: the types that the bindings and the rest of the package share. Imports nothing, so that no
 * import circle goes through it.
 *
 * Copies of the package in one realm use each other's `Binding`, so versions of the package with the same `Page.ABI`
 * must have the same names here.
 */
/** Where the core runs. */
export type Backend = "native" | "wasm";
