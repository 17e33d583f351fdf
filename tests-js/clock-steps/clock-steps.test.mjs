// Real steps of the clock in a real process: libfaketime changes what the operating system tells Node, four worker threads
// mint with one node id, and another process counts. Each scenario runs a broken generator too, which must be caught.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
const folder = mkdtempSync(join(tmpdir(), "frazil-clock-"));
after(() => rmSync(folder, { recursive: true }));

/** Twenty offsets of up to five seconds, the same in every run: a linear congruential generator (Numerical Recipes). */
function random() {
  let state = 20261121;
  return Array.from({ length: 20 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return { afterMs: 100, offsetS: Number(((state / 2 ** 32) * 10 - 5).toFixed(3)) };
  });
}

const SCENARIOS = {
  "a second back": [{ afterMs: 700, offsetS: -1 }],
  "an hour back": [{ afterMs: 700, offsetS: -3600 }],
  "an hour forward, and back": [
    { afterMs: 500, offsetS: 3600 },
    { afterMs: 700, offsetS: 0 },
  ],
  "twenty steps at random": random(),
};

async function mint(task) {
  const out = join(folder, "ids");
  const offset = join(folder, "offset");
  writeFileSync(offset, "+0\n");
  const env = {
    ...process.env,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: "1",
    DONT_FAKE_MONOTONIC: "1",
    FRAZIL_BACKEND: "native",
  };
  const script = fileURLToPath(new URL("mint.mjs", import.meta.url));
  const argument = JSON.stringify({ most: 200_000, ...task, out });
  const { stdout } = await promisify(execFile)(process.execPath, [script, argument], { env });
  const bytes = readFileSync(out);
  const ids = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8).sort();
  let repeats = 0;
  for (let at = 1; at < ids.length; at++) if (ids[at] === ids[at - 1]) repeats++;
  return { issued: ids.length, repeats, threads: JSON.parse(stdout) };
}

for (const [name, steps] of Object.entries(SCENARIOS)) {
  for (const layout of ["default", "multi-clock"]) {
    test(`${name}, layout ${layout}: no repeat`, async () => {
      const { issued, repeats, threads } = await mint({ steps, layout, threads: 4 });
      assert.equal(repeats, 0);
      assert.ok(issued > 4000, `${issued} issued`);
      const codes = new Set(threads.flatMap(({ codes }) => Object.keys(codes)));
      const expected = layout === "default" ? ["CLOCK_BACKWARD"] : [];
      assert.deepEqual([...codes], expected);
      // Every thread saw the clock go back; some had to switch, and the others followed them.
      for (const { stats } of threads) assert.ok(stats.stepsBack > 0, JSON.stringify(stats));
      const switches = threads.reduce((sum, { stats }) => sum + stats.switches, 0);
      assert.equal(switches > 0, layout === "multi-clock", `${switches} switches`);
    });
  }

  // One thread repeats where the clock shows a time twice. Where it only jumps ahead and back, it takes threads that do not
  // share their state.
  const threads = name === "an hour forward, and back" ? 4 : 1;
  test(`${name}: a generator that starts its sequence anew, in ${threads} threads, is caught`, async () => {
    const { repeats } = await mint({ steps, broken: true, threads });
    assert.ok(repeats > 0);
  });
}
