// Runs in Node: starts `turns-main.mjs` in a runtime, and asserts that a turn of `freshness: "turn"` ends there as
// docs/reference/api.md says.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const main = fileURLToPath(new URL("turns-main.mjs", import.meta.url));

/** `file`: the file of the package. `before`: the arguments before that of the program. */
export async function assertTurnsEnd(program, file, { before = [], env = {} } = {}) {
  const entry = new URL(`../../npm/frazil/dist/${file}`, import.meta.url).href;
  const options = { env: { ...process.env, FRAZIL_BACKEND: "wasm", ...env }, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(program, [...before, main, entry], options);
  // Within the turn the time is that of the block: so the checker sees a block that is kept.
  assert.deepEqual(JSON.parse(stdout), { inTurn: 50, afterAwait: 0, afterTimer: 0, inRequests: [0, 0, 0, 0, 0] });
}
