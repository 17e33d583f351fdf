// The bundles of the package: a file for each entry and module system, and for the main entry one for each binding.

/** Stores, and what tests of yours use. Those of the second list import modules of Node. The names are those of their subpaths. */
const STORES = [
  "stores/d1",
  "stores/document",
  "stores/durable-object",
  "stores/etcd",
  "stores/mysql",
  "stores/postgres",
  "stores/redis",
  "testing",
];
const STORES_OF_NODE = ["stores/sqlite", "stores/zookeeper"];
/** Tests, which import `node:test`. Bundlers need not take them apart, so their ES modules only re-export the CommonJS files. */
export const CONTRACTS = ["testing/lease-contract", "testing/segment-contract"];

/** Other entries besides the main one that are the same on every platform. */
const NEUTRAL = ["decode", "text", "transport", "typed", "lease", "segment"];
/** What shares with the stores. */
const SHARING = [...STORES, "sql"];

/** All entries besides the main one. */
export const ENTRIES = [
  "layout",
  ...NEUTRAL,
  "public",
  ...SHARING,
  ...STORES_OF_NODE,
  ...CONTRACTS,
  "workers",
  "workers/segment",
  "native",
];

/** The source of an entry or of another bundle. */
export const sourceOf = (entry) =>
  ENTRIES.includes(entry) || entry === "cli" ? `src/${entry}/index.ts` : `src/${entry}.ts`;

const both = (entry, more) => [
  { file: `${entry}.mjs`, entry, format: "esm", ...more },
  { file: `${entry}.cjs`, entry, format: "cjs", ...more },
];
const STORE = { shares: ["stores/shared"] };

/**
 * The bundles: the entry file of each, the binding that it contains, and what it imports from another bundle.
 *
 * * `shares`: what these sources export, from the bundles of them. In CommonJS, which bundlers do not take apart, `frazil/layout` is a part
 *   of `frazil` instead.
 * * `frazil`: the bundle that provides its imports from `frazil`, since it may not import what mints.
 * * `takesEntries`: what other entries export.
 */
export const BUNDLES = [
  { file: "shared.mjs", entry: "shared", format: "esm" },
  { file: "node.cjs", entry: "index", binding: "node", format: "cjs", platform: "node" },
  { file: "inline.mjs", entry: "index", binding: "inline", format: "esm", shares: ["shared"] },
  { file: "inline.cjs", entry: "index", binding: "inline", format: "cjs" },
  { file: "workerd.mjs", entry: "index", binding: "workerd", format: "esm", shares: ["shared"] },
  { file: "edge-light.mjs", entry: "index", binding: "edge-light", format: "esm", shares: ["shared"] },
  { file: "workers/shared.mjs", entry: "workers/shared", format: "esm", shares: ["shared"], frazil: "shared.mjs" },
  { file: "workers.mjs", entry: "workers", format: "esm", shares: ["shared", "workers/shared"] },
  {
    file: "workers-segment.mjs",
    entry: "workers/segment",
    binding: "workerd",
    format: "esm",
    shares: ["shared", "workers/shared"],
    frazil: "shared.mjs",
  },
  { file: "workers-elsewhere.mjs", entry: "workers/elsewhere", format: "esm", takesEntries: true },
  { file: "workers-elsewhere.cjs", entry: "workers/elsewhere", format: "cjs", takesEntries: true },
  { file: "cli.mjs", entry: "cli", format: "esm", platform: "node", takesEntries: true, ...STORE },
  { file: "native-addons.cjs", entry: "native/addons", format: "cjs", platform: "node" },
  ...both("native", { platform: "node" }),
  ...NEUTRAL.flatMap((entry) => both(entry)),
  ...both("public"),
  ...["workerd", "edge-light"].map((binding) => ({
    file: `public-${binding}.mjs`,
    entry: "public",
    binding,
    format: "esm",
    shares: ["shared"],
  })),
  ...both("stores/shared"),
  ...SHARING.flatMap((entry) => both(entry, STORE)),
  ...STORES_OF_NODE.flatMap((entry) => both(entry, { platform: "node", ...STORE })),
  ...CONTRACTS.map((entry) => ({ file: `${entry}.cjs`, entry, format: "cjs", platform: "node", ...STORE })),
];

/** The files that import the WebAssembly module where the host compiles it, each with its import. */
export const WASM_IMPORTS = {
  // A namespace, because tools give it different exports: see `binding/workerd.ts`.
  "workerd-wasm.mjs": 'import * as wasm from "./frazil.wasm";',
  "workerd-segment-wasm.mjs": 'import * as wasm from "./segment.wasm";',
  "workerd-public-wasm.mjs": 'import * as wasm from "./public.wasm";',
  "edge-light-public-wasm.mjs": 'import wasm from "./public.wasm?module";',
  "edge-light-wasm.mjs": 'import wasm from "./frazil.wasm?module";',
};

/** The files of `frazil/native` where there are no addons. */
export const NATIVE_FILES = {
  "native-elsewhere.mjs": "export {};",
  "native-elsewhere.cjs": "",
};
