// WebAssembly that was stopped inside a call: what the collector finds afterwards must not end the process.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { DIVE, entry, root as ROOT } from "./started.mjs";

/** Calls at each distance from the end of the stack; then what minted is collected. */
const script = `
  const { Snowflake } = require(${JSON.stringify(entry)});
  let t = Date.now();
  let ids = new Snowflake({ node: 1, now: () => t, maxLeadMs: 1000 });
  let kept = new Snowflake({ node: 2, now: () => t });
  ${DIVE}
  // In steps of a word, until one of the ends lies inside the module: the next call ends in a trap.
  const callers = Array.from({ length: 14 }, (_, q) => new Function("ids", "return ids.next(" + "0,".repeat(q) + "0)"));
  let code;
  attempts: for (let round = 0; round < 20; round++) for (const call of callers) for (let pad = 0; pad < 60; pad++) {
    const d = find();
    try { rec(d - pad, () => { t += 1; call(ids); }); } catch {}
    try { kept.stats(); } catch (error) {
      code = error.code;
      break attempts;
    }
  }
  ids = kept = undefined;
  let n = 0;
  const timer = setInterval(() => {
    gc();
    if (++n > 10) { clearInterval(timer); process.stdout.write(JSON.stringify({ code })); }
  }, 20);
`;

/** Runs a script in a Node of its own, whose stack is small. */
async function inSmallStack(script, flags, backend) {
  const env = backend ? { ...process.env, FRAZIL_BACKEND: backend } : process.env;
  const args = [...flags, "--input-type=commonjs", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

test("a generator that is collected after WebAssembly was stopped leaves the process alive", async () => {
  const { code } = await inSmallStack(script, ["--expose-gc", "--stack-size=300"], "wasm");
  assert.equal(code, "WASM_UNAVAILABLE", "it was stopped");
});
