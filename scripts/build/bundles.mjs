// What the package is bundled into: a file for each entry and module system, and for the main entry one for each binding.

/** Entries besides the main one, which are the same on every platform. The names are those of their subpaths. */
const NEUTRAL = [
  "decode",
  "text",
  "transport",
  "lease",
  "segment",
  "testing",
  "stores/d1",
  "stores/document",
  "stores/durable-object",
  "stores/etcd",
  "stores/mysql",
  "stores/postgres",
  "stores/redis",
];

/** Entries that import modules of Node. */
const NODE = ["stores/sqlite", "stores/zookeeper", "testing/lease-contract", "testing/segment-contract"];

/** All entries besides the main one. */
export const ENTRIES = ["layout", ...NEUTRAL, ...NODE, "workers", "native"];

/** The source of an entry or of another bundle. */
export const sourceOf = (entry) =>
  ENTRIES.includes(entry) || entry === "cli" ? `src/${entry}/index.ts` : `src/${entry}.ts`;

const both = (entry, platform) => [
  { file: `${entry}.mjs`, entry, format: "esm", platform },
  { file: `${entry}.cjs`, entry, format: "cjs", platform },
];

/**
 * The bundles: the entry file of each, the binding or the host that it contains, and whether it imports what `shared.ts` exports
 * from the bundle of that. CommonJS does not, which bundlers do not take apart: there `frazil/layout` is a part of `frazil`.
 */
export const BUNDLES = [
  { file: "shared.mjs", entry: "shared", format: "esm" },
  { file: "node.cjs", entry: "index", binding: "node", format: "cjs", platform: "node" },
  { file: "inline.mjs", entry: "index", binding: "inline", format: "esm", shares: true },
  { file: "inline.cjs", entry: "index", binding: "inline", format: "cjs" },
  { file: "workerd.mjs", entry: "index", binding: "workerd", format: "esm", shares: true },
  { file: "edge-light.mjs", entry: "index", binding: "edge-light", format: "esm", shares: true },
  { file: "workers.mjs", entry: "workers", host: "workerd", format: "esm", shares: true },
  { file: "workers-elsewhere.mjs", entry: "workers", host: "elsewhere", format: "esm" },
  { file: "workers-elsewhere.cjs", entry: "workers", host: "elsewhere", format: "cjs" },
  { file: "cli.mjs", entry: "cli", format: "esm", platform: "node" },
  { file: "native-addons.cjs", entry: "native/addons", format: "cjs", platform: "node" },
  ...both("native", "node"),
  ...NEUTRAL.flatMap((entry) => both(entry, "neutral")),
  ...NODE.flatMap((entry) => both(entry, "node")),
];

/** The files that import the WebAssembly module where the host compiles it, each with its import. */
export const WASM_IMPORTS = {
  // A namespace, because tools give it different exports: see `binding/workerd.ts`.
  "workerd-wasm.mjs": 'import * as wasm from "./frazil.wasm";',
  "edge-light-wasm.mjs": 'import wasm from "./frazil.wasm?module";',
};

/** The files of `frazil/native` where there are no addons. */
export const NATIVE_FILES = {
  "native-elsewhere.mjs": "export {};",
  "native-elsewhere.cjs": "",
};
