// What drivers, servers and own stores say, in messages: one short line that has no password and nothing that a terminal acts on or hides.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import { time } from "../lease/faked.mjs";
import { never, open, storeWith, watched } from "../lease/harness.mjs";
import { load } from "../vectors/generated-tables.mjs";
import { wholeText } from "./rule-texts.mjs";

const { fromOutside } = await load("outside-text", "base");
const HOSTILE = `\x1b[2J\r\u202e\u2028 no way to redis://me:p@ss/w0rd@host:1/0\r\nFAKE LINE ${"x".repeat(100_000)}`;

/** Checks an error that has such a text. */
function assertTame(error, code) {
  const text = wholeText(error);
  assert.equal(error.code, code, error.stack);
  assert.doesNotMatch(text, /[\p{C}\p{Zl}\p{Zp}]|ss\/w0rd/u);
  assert.match(text, /redis:\/\/me:…@host:1\/0 (\. )?FAKE LINE x+…/);
  assert.ok(text.length < 1500, `${text.length} characters`);
}

test("a text from outside is one line without passwords, and is cut between characters", () => {
  for (const [text, shown] of [
    ["refused\n  by the pool", "refused by the pool"],
    ["\x1b[2J\ttab\u2028", "\ufffd[2J\ufffdtab\ufffd"],
    ["a\r\nb\rc", "a b c"],
    ["mysql://root:secret@db:3306/x and http://:t0ken@y", "mysql://root:…@db:3306/x and http://:…@y"],
    ["postgres://u:a@b/c:d@host", "postgres://u:…@host"],
    ["http://127.0.0.1:2379 is up", "http://127.0.0.1:2379 is up"],
    [`${"x".repeat(299)}\u{1f600}yy`, `${"x".repeat(299)}\u{1f600}…`],
    [`${"x".repeat(280)}//me:${"long".repeat(1000)}@host`, `${"x".repeat(280)}//me:…@host`],
    [undefined, "undefined"],
  ])
    assert.equal(fromOutside(text), shown);
  // A pattern that goes back would take minutes.
  for (const part of ["//", "//a:", ":", " ", "\n ", "@", "//:@"]) fromOutside(part.repeat(1_000_000));
});

test("the error of a driver", async () => {
  for (const code of [undefined, "42501", "XX000"]) {
    const client = { query: () => Promise.reject(Object.assign(new Error(HOSTILE), { code })) };
    const error = await new PostgresStore(client).migrate().catch((error) => error);
    assertTame(error, code === "42501" ? "STORE_REFUSED" : "STORE_UNAVAILABLE");
  }
});

test("the name of an own store", async () => {
  for (const [code, fault] of [
    ["STORE_NOT_INITIALISED", () => ({ granted: false, reason: "missing", storeNowMs: 1 })],
    ["STORE_UNAVAILABLE", () => Promise.reject(new Error("no way"))],
  ]) {
    const store = Object.defineProperty(storeWith(), "name", { value: HOSTILE });
    store.fault = fault;
    const watch = watched(open(store, { maxAsyncWaitMs: 5000 }));
    await time.advance(6000);
    assertTame(watch.error, code);
    assert.doesNotMatch(`${watch.error.hint}`, /FAKE LINE/);
  }
  const numbers = new Segment(
    { name: HOSTILE, allocate: () => Promise.reject(new Error("no way")) },
    { tag: "orders" },
  );
  const watch = watched(numbers.next());
  await time.advance(6000);
  assertTame(watch.error, "SEGMENT_EXHAUSTED");
});

test("an own store: its layout, its place, its rejection and what it waits for", async () => {
  for (const [code, fault, waitsFor] of [
    ["LAYOUT_MISMATCH", () => ({ granted: false, reason: "layout", layout: HOSTILE, storeNowMs: 1 })],
    ["STORE_NOT_INITIALISED", () => ({ granted: false, reason: "missing", place: HOSTILE, storeNowMs: 1 })],
    ["STORE_UNAVAILABLE", () => Promise.reject(new Error(HOSTILE))],
    ["STORE_UNAVAILABLE", () => Promise.reject(HOSTILE)],
    ["STORE_UNAVAILABLE", never, () => HOSTILE],
  ]) {
    const store = storeWith();
    store.fault = fault;
    if (waitsFor) store.waitsFor = waitsFor;
    const watch = watched(open(store, { maxAsyncWaitMs: 5000 }));
    await time.advance(6000);
    assert.equal(watch.state, "rejected");
    assertTame(watch.error, code);
    // What waitsFor() says after a line break is what to do. No other text gives a hint.
    assert.equal(/FAKE LINE/.test(watch.error.hint), waitsFor !== undefined);
  }
});
