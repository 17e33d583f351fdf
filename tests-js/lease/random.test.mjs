// Grants and nonces come from the kernel, so copies of a process draw different ones. If that is impossible, `health()` says so.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { root } from "../../scripts/shell.mjs";
import { tools } from "../../scripts/tools.mjs";

const PROGRAM = `
  import { lease } from "frazil/lease";
  import { FaultyStore } from "./faulty-store.mjs";
  const ids = await lease(FaultyStore.with(), { owner: "a test" });
  const { ok, warnings } = ids.health();
  console.log(JSON.stringify({ ok, warnings, issued: String(ids.next()) }));
  await ids.close();
`;

/** Runs a program that takes a lease. It may read the repository, and what `options` add. */
function leased(program, options, { backend = "wasm" } = {}) {
  const { stdout, stderr } = spawnSync(program, options, {
    cwd: import.meta.dirname,
    encoding: "utf8",
    env: { ...process.env, FRAZIL_BACKEND: backend },
    input: PROGRAM,
  });
  assert.ok(stdout, stderr);
  const { ok, warnings, issued } = JSON.parse(stdout);
  assert.equal(ok, true);
  assert.match(issued, /^\d{18}$/);
  return warnings;
}

/** Node's permission model, under the name that the running Node has for it. */
const flag = ["--permission", "--experimental-permission"].find((name) =>
  process.allowedNodeEnvironmentFlags.has(name),
);
const permitted = (...paths) => [
  flag,
  ...[`${root}*`, ...paths].map((path) => `--allow-fs-read=${path}`),
  "--input-type=module",
  "-",
];
const CLONES = /^a clone of this process .* \/dev\/urandom cannot be read \(\w+\)/;

// docs/internals/claims.md: 26
test("where /dev/urandom may not be read, health() warns of copies", () => {
  const [warning, ...rest] = leased(process.execPath, permitted());
  assert.match(warning, CLONES);
  assert.match(warning, /ERR_ACCESS_DENIED/);
  assert.deepEqual(rest, []);
});

test("where it may be read, and with the addon, health() warns of nothing", () => {
  assert.deepEqual(leased(process.execPath, permitted("/dev/urandom")), []);
  assert.deepEqual(leased(process.execPath, ["--input-type=module", "-"], { backend: "" }), []);
});

test("Deno without --allow-read: the same", () => {
  const run = (...allowed) => leased(tools.deno, ["run", "--no-prompt", "--no-remote", "--allow-env", ...allowed, "-"]);
  assert.match(run()[0], CLONES);
  assert.deepEqual(run("--allow-read=/dev/urandom"), []);
});
