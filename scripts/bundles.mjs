// What the package is bundled into: a file for each entry and module system, and for the main entry one for each binding.

/** Entries for Node alone. The names are those of their subpaths. */
export const NODE_ENTRIES = ["stores/postgres", "stores/mysql", "stores/sqlite", "testing/lease-contract"];

/** The bundles: the entry file of each, and the binding it contains. */
export const BUNDLES = [
  { file: "node.cjs", entry: "index", binding: "node", format: "cjs", platform: "node" },
  { file: "inline.mjs", entry: "index", binding: "inline", format: "esm" },
  { file: "inline.cjs", entry: "index", binding: "inline", format: "cjs" },
  { file: "workerd.mjs", entry: "index", binding: "workerd", format: "esm" },
  { file: "edge-light.mjs", entry: "index", binding: "edge-light", format: "esm" },
  { file: "cli.mjs", entry: "cli", format: "esm", platform: "node" },
  { file: "decode.mjs", entry: "decode", format: "esm" },
  { file: "decode.cjs", entry: "decode", format: "cjs" },
  { file: "text.mjs", entry: "text", format: "esm" },
  { file: "text.cjs", entry: "text", format: "cjs" },
  { file: "lease.mjs", entry: "lease", format: "esm" },
  { file: "lease.cjs", entry: "lease", format: "cjs" },
  ...NODE_ENTRIES.flatMap((entry) => [
    { file: `${entry}.mjs`, entry, format: "esm", platform: "node" },
    { file: `${entry}.cjs`, entry, format: "cjs", platform: "node" },
  ]),
];
