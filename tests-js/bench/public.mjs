// `npm run bench -- public`: an ID as a text that hides it, and back, beside what programs use in its place, interleaved in one process.
//
// - **In a loop**: as multiples of `Date.now()` in the same round.
// - **Isolated calls**: one call in a process that otherwise waits for the clock, as a server that answers a request.
// - **`node:crypto`** makes the block alone, in favour of it: no digits, and no ID is checked.
import { createCipheriv, createDecipheriv, randomUUID } from "node:crypto";
import { Snowflake } from "frazil";
import { publicIds } from "frazil/public";
import { base62 } from "frazil/text";
import { measure } from "mitata";
import { TEXTS } from "./peers/texts.mjs";
import { conditions, median, progress, short, spread, table, writeRecord } from "./record.mjs";

const [ROUNDS, COUNT] = [15, 1024];
const [COLD, ISOLATED] = [50, 250];
/** The least processor time of each measurement. */
const MIN_CPU_TIME_NS = 40e6;

let nowMs = 1_780_000_000_000;
const minted = new Snowflake({ node: 7, now: () => nowMs });
const ids = Array.from({ length: COUNT }, () => {
  nowMs += 977;
  return minted.next();
});
const key = new Uint8Array(16).map((_, at) => 7 * at + 1);
const sealed = publicIds({ kind: "user", keys: [key] });
const rotated = publicIds({ kind: "user", keys: [key.toReversed(), key] });
const shorter = publicIds({ kind: "user", form: "short", keys: [{ slot: 0, key }] });

const block = Buffer.alloc(16);
const cipherOf = (make) => make("aes-128-ecb", key, null).setAutoPadding(false);
const [cipher, decipher] = [createCipheriv, createDecipheriv].map(cipherOf);
const blockOf = (by) => (id) => {
  block.writeBigUInt64BE(id);
  return by(block);
};
const blocks = ids.map(blockOf((given) => cipher.update(given)));
const idOf = (by) => (given) => by(given).readBigUInt64BE();

/** A call, and what it is given, in turn. Texts are flat. */
const over = (call, inputs) => {
  let at = 0;
  return () => call(inputs[at++ % COUNT]);
};
const flat = (call, inputs = ids) => over((input) => call(input).charCodeAt(3), inputs);
const both = (name, encode, decode, inputs = ids) => {
  // With one argument: a second one is an option of some.
  const texts = inputs.map((input) => encode(input));
  if (String(texts.map((text) => decode(text))) !== String(inputs))
    throw new Error(`${name} does not return what it was given`);
  return { [`${name}: encode`]: flat(encode, inputs), [`${name}: decode`]: over(decode, texts) };
};
const subjects = {
  "`Date.now()`": () => Date.now(),
  ...both("`publicIds`, sealed", sealed.encode, sealed.decode),
  "`publicIds`, sealed: decode with the second key": over(rotated.decode, ids.map(sealed.encode)),
  ...both("`publicIds`, short", shorter.encode, shorter.decode),
  "`node:crypto`, a cipher for each: encipher": over(
    blockOf((given) => cipherOf(createCipheriv).update(given)),
    ids,
  ),
  "`node:crypto`, a cipher for each: decipher": over(
    idOf((given) => cipherOf(createDecipheriv).update(given)),
    blocks,
  ),
  "`node:crypto`, a kept cipher: encipher": over(
    blockOf((given) => cipher.update(given)),
    ids,
  ),
  "`node:crypto`, a kept cipher: decipher": over(
    idOf((given) => decipher.update(given)),
    blocks,
  ),
  ...both("`base62` of frazil/text, which hides nothing", base62.encode, base62.decode),
  "`randomUUID()`, which a column keeps": () => randomUUID().charCodeAt(3),
};
for (const [name, { encode, decode, inputOf }] of Object.entries(TEXTS))
  Object.assign(subjects, both(`\`${name}\``, encode, decode, ids.map(inputOf)));

const rounds = [];
let sink;
for (let round = 0; round < ROUNDS; round++) {
  const times = {};
  for (const [name, call] of Object.entries(subjects)) {
    const options = { min_cpu_time: MIN_CPU_TIME_NS, min_samples: 2, inner_gc: false };
    times[name] = (await measure(() => (sink = call()), options)).avg;
  }
  rounds.push(times);
  progress("rounds", round + 1, ROUNDS);
}
const isolated = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < ISOLATED; round++) {
  for (const [name, call] of Object.entries(subjects)) {
    await new Promise(setImmediate);
    const until = Date.now() + 2;
    while (Date.now() < until);
    const began = process.hrtime.bigint();
    sink = call();
    isolated[name].push(Number(process.hrtime.bigint() - began) / 1000);
  }
  progress("isolated call", round + 1, ISOLATED);
}
if (sink === undefined) throw new Error("nothing was called");

const [clock] = Object.keys(subjects);
const rows = Object.keys(subjects).map((name) => [
  name,
  spread(rounds.map((times) => times[name] / times[clock])),
  short(median(rounds.map((times) => times[name]))),
  spread(isolated[name].slice(COLD)),
]);
writeRecord(
  "public",
  "Texts that hide an ID",
  `\`npm run bench -- public\`: ${conditions()}; ${ROUNDS} interleaved rounds, ${ISOLATED - COLD} isolated calls in the order of the table, so the first of a package finds colder caches than the next. Texts are flat. Per ID, the median and the middle half.

${table(["call", "x Date.now()", "ns", "isolated, µs"], rows)}`,
);
