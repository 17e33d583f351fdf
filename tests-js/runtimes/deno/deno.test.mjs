// Deno, with no permission at all: WebAssembly, since an addon would need several.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { tools } from "../../../scripts/tools.mjs";
import { expectedCounts, inNewProcess, root } from "../bundle-and-run.mjs";
import { assertThreadsAreRefused } from "../threads.mjs";
import { assertTurnsEnd } from "../turns.mjs";

// The cache stays in the repository, and Deno does not check for a newer version.
const env = { DENO_DIR: `${root}.cache/deno`, DENO_NO_UPDATE_CHECK: "1" };

test("Deno without permissions: vectors and minting on WebAssembly", async () => {
  const { vectors, minting } = await inNewProcess(tools.deno, { before: ["run", "--no-prompt", "--no-remote"], env });
  assert.deepEqual(vectors, await expectedCounts());
  assert.equal(minting.backend, "wasm");
  assert.deepEqual(minting.refusals, [], "Deno can block");
  assert.ok(minting.waitedMs > 0);
});

test("Deno: FRAZIL_BACKEND=native is refused where no addon can be, and read only with the permission", () => {
  const text = `
    const { Snowflake } = await import(${JSON.stringify(`${root}npm/frazil/dist/inline.mjs`)});
    try { console.log(new Snowflake({ node: 7 }).backend); } catch ({ message, hint }) { console.log([message, hint].join("\\n")); }`;
  const backend = (forced, ...permissions) => {
    const all = { ...process.env, ...env, FRAZIL_BACKEND: forced };
    const given = ["run", "--no-prompt", "--no-remote", "--allow-import", `--allow-read=${root}`, ...permissions, "-"];
    const { stdout, stderr } = spawnSync(tools.deno, given, { env: all, input: text, encoding: "utf8" });
    assert.equal(stderr, "");
    return stdout.trim();
  };
  const allowed = "--allow-env=FRAZIL_BACKEND";
  assert.match(
    backend("native", allowed),
    /^NATIVE_REQUIRED: FRAZIL_BACKEND asks for the native addon.*\n.*createRequire/,
  );
  assert.match(backend("napi", allowed), /^INVALID_OPTION: FRAZIL_BACKEND must be "native" or "wasm", got "napi"$/);
  assert.equal(backend("wasm", allowed), "wasm");
  assert.equal(backend("native"), "wasm");
});

test("Deno: require() with all permissions has the addon, also where it is forced", () => {
  const text = `
    import { createRequire } from "node:module";
    const { Snowflake } = createRequire(${JSON.stringify(`${root}tests-js/`)})("frazil");
    console.log(new Snowflake({ node: 7 }).backend);`;
  const all = { ...process.env, ...env, FRAZIL_BACKEND: "native" };
  const { stdout, stderr } = spawnSync(tools.deno, ["run", "-A", "--no-remote", "-"], {
    env: all,
    input: text,
    encoding: "utf8",
  });
  assert.equal(stderr, "");
  assert.equal(stdout.trim(), "native");
});

// docs/internals/claims.md: 21
test("Deno: WebAssembly by import and the addon by require in a worker: the second is refused", () => {
  const worker = `
    import { createRequire } from "node:module";
    const { Snowflake } = createRequire(${JSON.stringify(`${root}tests-js/`)})("frazil");
    self.onmessage = () => {
      try {
        self.postMessage({ backend: new Snowflake({ node: 7 }).backend });
      } catch ({ code }) {
        self.postMessage({ code });
      }
    };
    self.postMessage("up");`;
  const both = (order, ...permissions) => {
    const text = `
      const { Snowflake } = await import(${JSON.stringify(`${root}npm/frazil/dist/inline.mjs`)});
      const url = "data:text/javascript," + encodeURIComponent(${JSON.stringify(worker)});
      const thread = new Worker(url, { type: "module" });
      const answer = () => new Promise((resolve) => { thread.onmessage = ({ data }) => resolve(data); });
      await answer();
      const theirs = () => { const reply = answer(); thread.postMessage(0); return reply; };
      const ours = () => {
        try { return { backend: new Snowflake({ node: 7 }).backend }; } catch ({ code }) { return { code }; }
      };
      const results = [];
      for (const mint of ${order} ) results.push(await mint());
      console.log(JSON.stringify(results));
      Deno.exit();`;
    const given = ["run", "--no-prompt", "--no-remote", ...permissions, "-"];
    const { stdout, stderr } = spawnSync(tools.deno, given, {
      env: { ...process.env, ...env },
      input: text,
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    return JSON.parse(stdout);
  };
  const refused = { code: "STATE_CONFLICT" };
  assert.deepEqual(both("[ours, theirs]", "-A"), [{ backend: "wasm" }, refused]);
  assert.deepEqual(both("[theirs, ours]", "-A"), [{ backend: "native" }, refused]);
  // Native code is allowed, and nothing by which it could be told.
  const withoutEnv = ["--allow-import", `--allow-read=${root}`, "--allow-ffi"];
  assert.deepEqual(both("[ours]", ...withoutEnv), [refused]);
  assert.deepEqual(both("[ours]", "--allow-import", `--allow-read=${root}`), [{ backend: "wasm" }]);
});

// docs/internals/claims.md: 31
test("Deno: a static node id is refused in web workers and in threads of node:worker_threads", () =>
  assertThreadsAreRefused(tools.deno, "inline.mjs", { before: ["run", "--no-prompt", "--allow-read"], env }));

test('Deno: a turn of freshness: "turn" ends with an await, a timer and a request', () =>
  assertTurnsEnd(tools.deno, "inline.mjs", {
    before: ["run", "--no-prompt", "--allow-read", "--allow-net=127.0.0.1"],
    env,
  }));
