// Runs consumers: `node run.mjs [--fast] [--record] [NAME…]`. One line each; it continues after a failure. `--record` writes the
// rows of what passed into docs/proofs/consumers.md.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CONSUMERS } from "./consumers.mjs";
import { parseRecord, printRecord, RECORD, rowOf } from "./record.mjs";
import { runConsumer, startRegistry } from "./runner.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: "boolean" }, record: { type: "boolean" } },
});
const named = [...positionals, ...(process.env.FRAZIL_CONSUMERS ?? "").split(/[\s,]+/).filter(Boolean)];
const unknown = named.filter((name) => !CONSUMERS.some((consumer) => consumer.name === name));
if (unknown.length > 0) throw new Error(`unknown consumer: ${unknown}; there are ${CONSUMERS.map(({ name }) => name)}`);
const chosen = CONSUMERS.filter(({ name, fast }) => (named.length > 0 ? named.includes(name) : fast || !values.fast));

const registry = await startRegistry();
const failures = [];
const rows = new Map();
async function inTurn(queue) {
  for (let consumer = queue.shift(); consumer !== undefined; consumer = queue.shift()) {
    const startMs = performance.now();
    const error = await runConsumer(consumer, registry.origin).then(
      () => undefined,
      (error) => error,
    );
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    process.stdout.write(`${error ? "✗" : "✓"} ${consumer.name} (${seconds} s)\n`);
    if (error) {
      failures.push(consumer.name);
      process.stdout.write(`${error.message}\n`);
    } else rows.set(consumer.name, rowOf(consumer, new Date()));
  }
}
// One for each of the two processors that CI has.
const queue = [...chosen];
await Promise.all([inTurn(queue), inTurn(queue)]);
registry.stop();
if (values.record) {
  const before = parseRecord(readFileSync(RECORD, "utf8"));
  writeFileSync(RECORD, printRecord(CONSUMERS.map(({ name }) => rows.get(name) ?? before.get(name)).filter(Boolean)));
}
process.stdout.write(
  `${rows.size} passed, ${failures.length} failed${failures.length > 0 ? `: ${failures.join(" ")}` : ""}\n`,
);
process.exit(failures.length > 0 ? 1 : 0);
