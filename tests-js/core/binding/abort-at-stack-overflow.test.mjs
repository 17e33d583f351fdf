// docs/internals/claims.md: 19
// A stack overflow between counting IDs and copying them, in an aborted call: slots that were counted but not copied must not be returned
// as IDs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { needsAddon, root as ROOT } from "./node-process.mjs";

/**
 * Calls at each distance from the end of the stack, in steps of a word, and collects the IDs that the generator returns
 * afterwards.
 */
const script = `
  const { Snowflake } = require("frazil");
  process.on("unhandledRejection", () => {});
  function rec(n, f) { return n === 0 ? f() : rec(n - 1, f); }
  function find() {
    let lo = 0, hi = 1e6;
    while (hi - lo > 1) {
      const m = (lo + hi) >> 1;
      try { rec(m, () => 0); lo = m; } catch { hi = m; }
    }
    return lo;
  }
  const callers = Array.from({ length: 14 }, (_, q) => new Function("ids", "signal", "return ids.nextManyAsync(5, { signal }" + ", 0".repeat(q) + ")"));
  (async () => {
    const t = Date.now();
    const seen = { overflows: 0, ids: 0, repeats: 0 };
    for (let i = 0; i < 3; i++) find();
    for (let q = 0; q < 14; q++) for (let pad = 0; pad < (q === 0 ? 520 : 40); pad++) {
      const ids = new Snowflake({ node: 1, maxLeadMs: 0, maxAsyncWaitMs: 0, now: () => t });
      const signal = { addEventListener() {}, removeEventListener() {}, throwIfAborted() {}, aborted: true };
      const d = find();
      let p;
      try { rec(d - pad, () => { p = callers[q](ids, signal); }); } catch { continue; }
      const got = [];
      try { got.push(...(await p)); } catch { seen.overflows++; }
      try { for (let i = 0; i < 7; i++) got.push(ids.next()); } catch {}
      seen.ids += got.length;
      seen.repeats += got.filter((id, at) => got.indexOf(id) < at || ids.decode(id).node !== 1).length;
    }
    process.stdout.write(JSON.stringify(seen));
  })();
`;

/** Runs a script in a new Node process with a small stack. */
async function inSmallStack(script, flags, backend) {
  const env = backend ? { ...process.env, FRAZIL_BACKEND: backend } : process.env;
  const args = [...flags, "--input-type=commonjs", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

test("after a stack overflow in an aborted call, no ID is repeated and every value is an ID", needsAddon, async () => {
  // Without optimising compilers, as in the first calls of each function.
  const seen = await inSmallStack(script, ["--no-opt", "--no-sparkplug", "--stack-size=200"], "native");
  assert.ok(seen.overflows > 20 && seen.ids > 4000, `too few calls overflowed the stack: ${JSON.stringify(seen)}`);
  assert.equal(seen.repeats, 0, JSON.stringify(seen));
});
