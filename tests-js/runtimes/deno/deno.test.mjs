// Deno, with no permission at all: WebAssembly, since an addon would need several.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { tools } from "../../../scripts/tools.mjs";
import { expectedCounts, inNewProcess, root } from "../bundle-and-run.mjs";

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
    try { console.log(new Snowflake({ node: 7 }).backend); } catch (error) { console.log(error.message); }`;
  const backend = (forced, ...permissions) => {
    const all = { ...process.env, ...env, FRAZIL_BACKEND: forced };
    const given = ["run", "--no-prompt", "--no-remote", "--allow-import", `--allow-read=${root}`, ...permissions, "-"];
    const { stdout, stderr } = spawnSync(tools.deno, given, { env: all, input: text, encoding: "utf8" });
    assert.equal(stderr, "");
    return stdout.trim();
  };
  const allowed = "--allow-env=FRAZIL_BACKEND";
  assert.match(backend("native", allowed), /^NATIVE_REQUIRED: .*createRequire/);
  assert.match(backend("napi", allowed), /^INVALID_OPTION: FRAZIL_BACKEND is "napi": must be native or wasm/);
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
