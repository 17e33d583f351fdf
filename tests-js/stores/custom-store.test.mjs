// The store of docs/stores.md, as it is printed there, keeps the contract.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Layout } from "frazil";
import { layoutText, lease } from "frazil/lease";
import { leaseContract } from "frazil/testing/lease-contract";

const document = readFileSync(new URL("../../docs/stores.md", import.meta.url), "utf8");
const [, program] = /```js\n(import \{ LeaseError \}.*?)```/s.exec(document);

// Inside the workspace, so that `frazil` is found.
const path = fileURLToPath(new URL(`document-store-${process.pid}.mjs`, import.meta.url));
writeFileSync(path, program);
const { DocumentStore } = await import(pathToFileURL(path).href);
rmSync(path);

/** Documents in memory, with calls that take turns, and a clock that is moved. */
function openDocuments() {
  const stored = new Map();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let incarnation = "1";
  let nowMs = 1_790_000_000_000;
  const documents = {
    async read(scope) {
      await turn();
      const found = stored.get(scope);
      return found && { ...found, nowMs, incarnation };
    },
    async replace(scope, version, text) {
      await turn();
      if (stored.get(scope).version !== version) return false;
      stored.set(scope, { version: version + 1, text });
      return true;
    },
  };
  return {
    store: new DocumentStore(documents),
    async init({ scope, layout, nodes, windowMaxMs }) {
      assert.equal(layout, layoutText(Layout.named("default")));
      const length = nodes.to - nodes.from + 1;
      const rows = Array.from({ length }, (_, at) => ({ node: nodes.from + at, grant: null, fromMs: 0, untilMs: 0 }));
      const text = JSON.stringify({ layout, windowMaxMs, fenceMs: 0, incarnation, rows });
      stored.set(scope, { version: 1, text });
    },
    pass: async (ms) => {
      nowMs += ms;
    },
    jumpClock: async (ms) => {
      nowMs += ms;
    },
    changeIncarnation: async () => {
      incarnation += "1";
    },
    stop: async () => {},
    start: async () => {},
  };
}

leaseContract({ name: "the store of docs/stores.md", open: async () => openDocuments() });

test("it says where it looked for a scope that has no document", async () => {
  await assert.rejects(lease(openDocuments().store, { scope: "orders" }), {
    code: "STORE_NOT_INITIALISED",
    message: /It looked in the document "orders"\./,
  });
});

test("it has at most 75 lines of code", () => {
  const lines = program.split("\n").filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/\*\*)/.test(line));
  assert.ok(lines.length <= 75, `${lines.length} lines`);
});
