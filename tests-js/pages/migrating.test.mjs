// docs/guides/migrating/index.md as printed: its programs, with the packages that they replace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Snowflake as Sapphire } from "@sapphire/snowflake";
import FlakeId from "flake-idgen";
import { printed, programsOf, textOf } from "./examples.mjs";

const folder = fileURLToPath(new URL("./", import.meta.url));
const programs = programsOf(textOf("docs/guides/migrating/index.md"));

test("there are programs", () => assert.equal(programs.length, 5));

for (const { code, output, line } of programs) {
  test(`docs/guides/migrating/index.md:${line} prints the output in the document`, async () => {
    assert.equal(await printed(code, { folder }), output);
  });
}

test("what the page says of the defaults of @sapphire/snowflake", () => {
  const old = new Sapphire(0);
  const { workerId, processId } = old.deconstruct(old.generate());
  assert.deepEqual([workerId, processId], [0n, 1n]);
  assert.equal(old.deconstruct(old.generate({ workerId: 33n })).workerId, 1n);
  // As a number, as text, and equal.
  assert.deepEqual([Sapphire.compare(9n, 10n), Sapphire.compare("10", "9"), Sapphire.compare("9", "9")], [-1, 1, 0]);
});

test("what the page says of the epoch of nodejs-snowflake", async () => {
  const { default: nodejs } = await import("nodejs-snowflake");
  const madeMs = Date.now();
  const old = new nodejs.Snowflake({ instance_id: 1 });
  assert.ok(Math.abs(old.customEpoch() - madeMs) < 1000, `${old.customEpoch()}`);
  assert.ok(old.getUniqueID() < 1n << 40n, "the time in the ID is that since the start");
});

test("what the page says of the masks of flake-idgen", () => {
  const parts = (options) =>
    (new FlakeId({ ...options, epoch: Date.now() - 5 }).next().readBigUInt64BE() >> 12n) & 1023n;
  assert.equal(parts({ worker: 33 }), parts({ worker: 1 }));
  assert.equal(parts({ id: 1024 + 295 }), parts({ datacenter: 9, worker: 7 }));
});
