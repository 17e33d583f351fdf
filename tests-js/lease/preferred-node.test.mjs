// preferredNode(): the node id that a process asks for first.
import { storeWith, verbs } from "./harness.mjs";
import "./faked.mjs";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { lease, preferredNode } from "frazil/lease";
import { tools } from "../../scripts/tools.mjs";
import { time } from "./faked.mjs";

const KUBERNETES = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
/** The first four bytes of the SHA-256 of names, with the tools of Python. */
const hashesOf = (...names) => {
  const script =
    "import hashlib,json,sys; print(json.dumps([int(hashlib.sha256(name.encode()).hexdigest()[:8],16) for name in sys.argv[1:]]))";
  return JSON.parse(execFileSync("python3", ["-c", script, ...names], { encoding: "utf8" }));
};

test("the ordinal of a pod of a StatefulSet or of an indexed Job, also with its domain", () => {
  for (const [name, node] of [
    ["web-0", 0],
    ["web-3", 3],
    ["my-app-web-1022", 1022],
    ["web-1023", 0],
    ["web-17.web.default.svc.cluster.local", 17],
  ])
    assert.equal(preferredNode({ hostname: name, env: KUBERNETES }), node, name);
});

test("a pod of a Deployment or a DaemonSet, and a host outside of Kubernetes, have no ordinal: a hash of the name", () => {
  const pods = [
    ["web-7d9f8b6c5-x2x9z", KUBERNETES],
    ["web-7d9f8b6c5-24569", KUBERNETES],
    ["agent-24569", KUBERNETES],
    ["web", KUBERNETES],
    ["web-3", {}],
    ["ip-10-0-3-17", {}],
    ["web.3-4", KUBERNETES],
  ];
  const hashes = hashesOf(...pods.map(([name]) => name));
  for (const [at, [name, env]] of pods.entries())
    assert.equal(preferredNode({ hostname: name, env }), hashes[at] % 1023, name);
});

test("NOMAD_ALLOC_INDEX", () => {
  assert.equal(preferredNode({ hostname: "client-a", env: { NOMAD_ALLOC_INDEX: "5" } }), 5);
  assert.equal(preferredNode({ hostname: "client-a", env: { NOMAD_ALLOC_INDEX: "1030" } }), 7);
  const [hash] = hashesOf("client-a");
  for (const NOMAD_ALLOC_INDEX of ["", "-1", "five", " 5"])
    assert.equal(preferredNode({ hostname: "client-a", env: { NOMAD_ALLOC_INDEX } }), hash % 1023);
});

test("a range of node ids", () => {
  const nodes = { from: 100, to: 107 };
  assert.equal(preferredNode({ nodes, hostname: "web-3", env: KUBERNETES }), 103);
  assert.equal(preferredNode({ nodes, hostname: "web-9", env: KUBERNETES }), 101);
  assert.equal(preferredNode({ nodes, hostname: "host", env: {} }), 100 + (hashesOf("host")[0] % 8));
  assert.equal(preferredNode({ nodes: { from: 7, to: 7 }, hostname: "host" }), 7);
});

test("no name is no preference, which lease() accepts", async () => {
  for (const name of ["", "localhost"]) assert.equal(preferredNode({ hostname: name, env: {} }), undefined);
  const store = storeWith();
  const ids = await time.until(lease(store, { node: preferredNode({ hostname: "localhost", env: {} }) }));
  assert.ok(!("node" in store.calls[0].request));
  await time.until(ids.close());
});

test("without options: this machine, of 1023 node ids", () => {
  const name = hostname();
  const expected = createHash("sha256").update(name).digest().readUInt32BE() % 1023;
  if (!process.env.NOMAD_ALLOC_INDEX && !process.env.KUBERNETES_SERVICE_HOST && name !== "localhost")
    assert.equal(preferredNode(), expected);
  process.env.NOMAD_ALLOC_INDEX = "9";
  try {
    assert.equal(preferredNode(), 9);
  } finally {
    delete process.env.NOMAD_ALLOC_INDEX;
  }
});

test("the preferred node id is taken if it is free, and another one if it is not", async () => {
  const store = storeWith({ nodes: { from: 0, to: 7 } });
  const node = preferredNode({ nodes: { from: 0, to: 7 }, hostname: "web-5", env: KUBERNETES });
  const [first, second] = [await time.until(lease(store, { node })), await time.until(lease(store, { node }))];
  assert.equal(first.node, 5);
  assert.notEqual(second.node, 5);
  await time.until(first.close());
  const third = await time.until(lease(store, { node }));
  assert.equal(third.node, 5);
  assert.deepEqual(verbs(store), ["acquire", "acquire", "release", "acquire"]);
  for (const ids of [second, third]) await time.until(ids.close());
});

test("bad options name the field and the rule", () => {
  const cases = [
    [{ node: 5 }, "node"],
    [{ nodes: 1024 }, "nodes"],
    [{ nodes: { from: -1 } }, "nodes.from"],
    [{ nodes: { from: 5, to: 4 } }, "nodes.to"],
    [{ nodes: { to: 2 ** 32 } }, "nodes.to"],
    [{ nodes: { to: "7" } }, "nodes.to"],
    [{ hostname: 5 }, "hostname"],
    [{ env: null }, "env"],
    [{ env: "NOMAD_ALLOC_INDEX=5" }, "env"],
    [{ env: { NOMAD_ALLOC_INDEX: Symbol() } }, "env.NOMAD_ALLOC_INDEX"],
    [{ env: { NOMAD_ALLOC_INDEX: 5 } }, "env.NOMAD_ALLOC_INDEX"],
    [5, "options"],
  ];
  for (const [options, field] of cases) assert.throws(() => preferredNode(options), { code: "INVALID_OPTION", field });
});

test("Deno without permissions: no preference and an owner without a name, and no error", () => {
  const program = fileURLToPath(new URL("deno-main.mjs", import.meta.url));
  const cache = fileURLToPath(new URL("../../.cache/deno", import.meta.url));
  const env = { ...process.env, DENO_DIR: cache, DENO_NO_UPDATE_CHECK: "1" };
  const said = JSON.parse(execFileSync(tools.deno, ["run", "--no-prompt", "--no-remote", program], { env }));
  assert.match(said.id, /^\d{18}$/);
  assert.deepEqual([said.owners, said.preferred], [["unknown"], "none"]);
});
