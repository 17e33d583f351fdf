/** Scenarios of tags and refused requests. */
import assert from "node:assert/strict";
import type { AllocateRequest } from "../../stores/segment-store.js";
import { type Bench, Counter, type Scenario } from "../contract/counter.js";

async function aMissingCounterIsNeverMade(bench: Bench) {
  const missing = new Counter(bench.open, bench.newTag());
  for (const given of [{}, { above: 100n }, { count: undefined }])
    await assert.rejects(missing.process().allocate(given), { code: "STORE_NOT_INITIALISED" });
  await (await bench.counter(7n, missing.tag)).isAt(7n, "the counter does not begin at its first number");
}

async function aCounterIsMadeOnce(bench: Bench) {
  const counter = await bench.counter(1n);
  const { end } = await counter.process().allocate();
  for (const first of [1n, 1000n])
    assert.equal(await bench.open.init(counter.tag, first), false, "a counter was made twice");
  await counter.isAt(end, "a counter that was there did not stay as it was");
  const tag = bench.newTag();
  const made = await Promise.all(Array.from({ length: 8 }, () => bench.open.init(tag, 1n)));
  assert.equal(made.filter(Boolean).length, 1, "processes that make one counter at once");
}

/** Tags that a lax comparison would treat as equal. */
function strangeTags(name: string): string[] {
  const part = name.slice(-6);
  return [
    name,
    name.toUpperCase(),
    `${name} `,
    `${name}  `,
    ` ${name}`,
    `${name}\t`,
    `${name}\n`,
    `${name}'`,
    `${name}''`,
    `${name}"`,
    `${name}\\`,
    `${name}\\\\`,
    `${name}\\'`,
    `${name}'; DROP TABLE frazil_segments; --`,
    `${name}%`,
    `${name}_`,
    `${name}*`,
    `${name}:next`,
    `{${name}}`,
    `$1 ? :tag {segments} ${name}`,
    `${name}\u00e9`,
    `${name}e\u0301`,
    `${name}ss`,
    `${name}\u00df`,
    `${name}\u8a9e`,
    `${name}\u{1f9ca}`,
    `${name}\u{1f9ca}\u{fe0f}`,
    "x".repeat(122) + part,
    `${"x".repeat(121) + part}y`,
    "\u00e9".repeat(122) + part,
    "\u{1f9ca}".repeat(61) + part,
  ];
}

async function tagsAreIsolated(bench: Bench) {
  const counters = [];
  for (const [at, tag] of strangeTags(bench.newTag()).entries())
    counters.push({ counter: await bench.counter(BigInt(1000 * at), tag), first: BigInt(1000 * at) });
  for (const count of [10, 5])
    for (const [at, { counter, first }] of counters.entries()) {
      const range = await counter.process().allocate({ count });
      assert.equal(range.first, first, `the tag ${JSON.stringify(counter.tag)} shares its counter`);
      counters[at] = { counter, first: range.end };
    }
}

async function badRequestsAreRefused(bench: Bench) {
  const counter = await bench.counter();
  const bad: Record<keyof Omit<AllocateRequest, "signal">, unknown[]> = {
    tag: ["", "x".repeat(129), "\ud800", "x\udfffx", "\0", undefined, null, 5, {}],
    count: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5", 5n, null],
    maxCount: [0, -1, 1.5, Number.NaN, 2 ** 53, "5", 5n, undefined, null],
    above: [-1n, 5, "5", undefined, null],
    failoverSkip: [-1, 1.5, Number.NaN, 2 ** 53, "5", 5n, undefined, null],
    holder: ["", "5", undefined, null, 5, "A".repeat(32), "a".repeat(31), `${"a".repeat(31)}'`],
    attempt: ["", "5", undefined, null, 5, "A".repeat(32), "a".repeat(33), `${"a".repeat(31)}"`],
  };
  for (const [field, values] of Object.entries(bad))
    for (const value of values)
      await assert.rejects(
        counter.process().allocate({ [field]: value } as never),
        { code: "INVALID_ARGUMENT" },
        `${field}: ${typeof value} ${String(value)}`,
      );
  for (const request of [undefined, null, "orders"])
    await assert.rejects(bench.open.store.allocate(request as never), { code: "INVALID_ARGUMENT" }, `${request}`);
  await counter.isAt(1n, "a request that was refused took numbers");
}

async function anAbortedCallRejectsWithTheReason(bench: Bench) {
  const counter = await bench.counter();
  const reason = new Error("given up");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(counter.process().allocate({ signal }), (error) => error === reason);
  await counter.isAt(1n, "a call that was aborted before it began took numbers");
}

export const tags: readonly Scenario[] = [
  { name: "a missing counter is refused, and never made", run: aMissingCounterIsNeverMade },
  { name: "a counter is made once, and stays as it is", run: aCounterIsMadeOnce },
  { name: "tags are isolated, whatever characters they have", needs: ["tags"], run: tagsAreIsolated },
  { name: "bad requests are refused, and take no numbers", run: badRequestsAreRefused },
  { name: "a call with an aborted signal rejects with its reason", run: anAbortedCallRejectsWithTheReason },
];
