// What the functions of `sqlFor` must give, from the vectors of the core.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Layout } from "frazil";

const [layouts, ranges, texts] = ["layouts", "ranges", "text"].map((name) =>
  JSON.parse(readFileSync(new URL(`../../crates/core/vectors/${name}.json`, import.meta.url), "utf8")),
);
const specOf = ({ epochMs, tickMs, unsigned, fields }) => ({ epochMs, tickMs, unsigned, fields });

/** IDs of times between the first and the last of the layout `default`, since engines compute milliseconds as doubles. */
function spread() {
  const layout = Layout.named("default");
  const lastMs = layout.plan().lastDate.getTime();
  const decoded = Array.from({ length: 1000 }, (_, at) => {
    const timestampMs = layout.epochMs + Math.floor(((lastMs - layout.epochMs) * (at + 0.37)) / 1000);
    const [node, sequence] = [at, 4095 - at];
    return { id: `${layout.compose({ timestampMs, node, sequence })}`, timestampMs, node, clock: null, sequence };
  });
  return { name: "default, spread", layout, ids: decoded.map(({ id }) => BigInt(id)), decoded };
}

/** The layouts of the vectors, with their IDs: those of the text vectors too. */
export const LAYOUTS = [...layouts.named, ...layouts.custom].map((vector) => ({
  name: vector.name,
  layout: new Layout(specOf(vector)),
  ids: vector.cases.map(({ id }) => BigInt(id)),
  decoded: vector.cases,
}));
LAYOUTS.push(spread());

const widthOf = (layout) => layout.fields.reduce((sum, { bits }) => sum + bits, 0);
const MAX_SIGNED = 2n ** 63n - 1n;

const literal = (text) => `'${text}'`;

/**
 * Expressions for a layout, each with its expected value as text. `engine`:
 * - `isSigned`: whether a number from 2^63 on is negative;
 * - `idOf(id, isWide)`: a literal;
 * - `msOf(expression)`: the Unix milliseconds of a time, as a number; `timeOf(ms)`: a literal;
 * - `minMs` and `maxMs`: the times that the engine has;
 * - `prefix`: of the functions; `call(name, args)`: a call of one, if that is not enough.
 */
export function casesOf({ name, layout, decoded }, engine) {
  const { isSigned = false, isUnchecked = false, idOf, msOf, timeOf, maxMs, prefix = "" } = engine;
  const { call = (name, args) => `${prefix}frazil_${name}(${args.join(", ")})` } = engine;
  const isWide = widthOf(layout) === 64;
  const maxId = 2n ** BigInt(widthOf(layout)) - 1n;
  const stored = (id) => (isSigned ? BigInt.asIntN(64, id) : id);
  const of = (id) => idOf(stored(id), isWide);
  const cases = [];
  const add = (expression, expected) => cases.push([expression, expected === null ? null : `${expected}`]);
  for (const { id: text, timestampMs, node, clock, sequence } of decoded) {
    const id = of(BigInt(text));
    if (timestampMs <= maxMs) add(msOf(call("time", [id])), timestampMs);
    if (node !== null) add(call("node", [id]), node);
    if (clock !== null) add(call("clock", [id]), clock);
    add(call("sequence", [id]), sequence);
  }
  // All of them for a layout of each width, and some for the others.
  const isFull = ["default", "discord", "safe53"].includes(name);
  for (const { id: text, fixed } of texts.ids.filter((_, at) => isFull || at % 8 === 0)) {
    const id = BigInt(text);
    if (id > maxId) {
      if (!isUnchecked && !isWide && id <= MAX_SIGNED) add(call("base62", [of(id)]), null);
      add(call("parse_base62", [literal(fixed.base62)]), null);
      continue;
    }
    add(call("base62", [of(id)]), fixed.base62);
    add(call("typed", [literal("usr"), of(id)]), `usr_${fixed.base62}`);
    add(call("parse_base62", [literal(fixed.base62)]), stored(id));
  }
  for (const { form, short, text } of texts.refused)
    if (form === "base62" && !short && /^[ -~\n]{0,60}$/.test(text) && !/['\\]/.test(text))
      add(call("parse_base62", [literal(text)]), null);
  const limit = isSigned || !isWide ? MAX_SIGNED : maxId;
  const { signedUntil } = layout.plan();
  const lastMs = isWide && isSigned ? Number(signedUntil) : Infinity;
  for (const { layout: own, fromMs, toMs, node, fromId, untilId } of ranges.stretches) {
    if (own !== name || fromId === undefined) continue;
    for (const [ms, id, end] of [
      [fromMs, fromId, "from"],
      [toMs, untilId, "until"],
    ]) {
      // Other texts of `Date` and earlier times are not in every engine.
      if (ms > maxMs || ms < Date.UTC(1, 0)) continue;
      const expected = ms > lastMs || BigInt(id) > limit ? limit : BigInt(id);
      add(call(end, [timeOf(ms), ...(node === null ? [] : [`${layout.joinNode(node)}`])]), expected);
    }
  }
  return cases;
}

/** Asks for the values of the cases, `count` at a time, and compares them. Returns how many there were. */
export async function check(name, cases, ask, count = 200) {
  for (let at = 0; at < cases.length; at += count) {
    const some = cases.slice(at, at + count);
    const values = await ask(some.map(([expression]) => expression));
    assert.equal(values.length, some.length);
    for (const [index, [expression, expected]] of some.entries()) {
      const value = values[index];
      assert.equal(value === null ? value : `${value}`, expected, `${name}: ${expression}`);
    }
  }
  return cases.length;
}

/** A time as most engines read it: ISO 8601 without its zone. */
export function timestampText(ms) {
  const date = new Date(ms);
  const year = `${date.getUTCFullYear()}`.padStart(4, "0");
  return `${year}-${date
    .toISOString()
    .replace(/^[+-]?\d+-/, "")
    .slice(0, -1)
    .replace("T", " ")}`;
}
