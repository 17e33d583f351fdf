// `npm run bench -- text`: what an ID as text costs, and a text in the caller's array, as multiples of `Date.now()` in the same round,
// with the floors of both. Prints a table, and writes a dated record.
import { Snowflake } from "frazil";
import { base32, base58, base62, hex } from "frazil/text";
import { measure } from "mitata";
import { conditions, median, progress, quantile, table, writeRecord } from "./record.mjs";

const [ROUNDS, COUNT] = [15, 4096];
/** The least processor time of each measurement. */
const MIN_CPU_TIME_NS = 60e6;
/** Minted in one call, and one in each of so many milliseconds. */
const together = new Snowflake({ node: 7, now: () => 1_780_000_000_000 }).fill(new BigUint64Array(COUNT));
let nowMs = 1_780_000_000_000;
const apart = new Snowflake({ node: 7, now: () => nowMs });
const scattered = BigUint64Array.from({ length: COUNT }, () => {
  nowMs += 977;
  return apart.next();
});
const list = [...scattered];
const halves = new Uint32Array(scattered.buffer);
const bytes = new Uint8Array(16 * COUNT);
const { fromCharCode } = String;
let [at, sink] = [0, 0];
const next = () => list[at++ % COUNT];
/** The unit and the half unit of base 62, from an array, so that they are no constants to the compiler. */
const units = Float64Array.of(62 ** 8, 62 ** 4);

/** The two divisions that split an ID into three numbers with so few bits that the processor divides them fast. */
function split() {
  let all = 0;
  for (let index = 0; index < halves.length; index += 2) {
    const number = halves[index + 1] * 2 ** 32 + halves[index];
    const top = Math.floor(number / units[0]);
    const rest = number - top * units[0];
    all ^= top ^ Math.floor(rest / units[1]);
  }
  return all;
}

/** One read of an ID and one store of two digits for each ID. */
function stores() {
  for (let index = 0, to = 9; index < halves.length; index += 2, to += 11) {
    bytes[to] = halves[index];
    bytes[to + 1] = halves[index] >>> 8;
  }
  return bytes[9];
}

/** The digits of an ID, by dividing a bigint. */
function model({ alphabet, width }, id) {
  const base = BigInt(alphabet.length);
  let [text, rest] = ["", id];
  for (let digit = 0; digit < width; digit++, rest /= base) text = alphabet[Number(rest % base)] + text;
  return text;
}

for (const form of [hex, base32, base58, base62]) {
  for (const ids of [together, scattered]) {
    const expected = Array.from(ids, (id) => model(form, id));
    if (Array.from(ids, (id) => form.encode(id)).join() !== expected.join())
      throw new Error("encode wrote wrong digits");
    form.encodeInto(ids, bytes);
    const written = Buffer.from(bytes.subarray(0, COUNT * form.width)).toString("latin1");
    if (written !== expected.join("")) throw new Error("encodeInto wrote wrong digits");
  }
}
if (new Set(together).size + new Set(scattered).size !== 2 * COUNT) throw new Error("an ID was minted twice");

/** A text is flat once a character of it was read. */
const flat = (text) => () => text(next()).charCodeAt(3);
/** Each call, and how many IDs it writes. */
const subjects = {
  "`Date.now()`": [() => Date.now(), 1],
  "`id.toString()`": [flat((id) => id.toString()), 1],
  "`base62.encode(id)`": [flat(base62.encode), 1],
  "`base58.encode(id)`": [flat(base58.encode), 1],
  "`base32.encode(id)`": [flat(base32.encode), 1],
  "`hex.encode(id)`": [flat(hex.encode), 1],
  "floor: `String.fromCharCode` of 11 codes": [
    () => fromCharCode(48 + (at++ & 7), 48, 49, 50, 51, 52, 53, 54, 55, 56, 57).charCodeAt(3),
    1,
  ],
  "floor: the comparison of an ID with 0 and with 2^64 - 1": [() => next() < 0n || next() > 0xffff_ffff_ffff_ffffn, 2],
  "`base62.encodeInto`, IDs of one block": [() => base62.encodeInto(together, bytes), COUNT],
  "`base32.encodeInto`, IDs of one block": [() => base32.encodeInto(together, bytes), COUNT],
  "`base62.encodeInto`, IDs of other milliseconds": [() => base62.encodeInto(scattered, bytes), COUNT],
  "`base32.encodeInto`, IDs of other milliseconds": [() => base32.encodeInto(scattered, bytes), COUNT],
  "floor: a read and a store of two digits for each ID": [stores, COUNT],
  "floor: two divisions for each ID": [split, COUNT],
};

const rounds = [];
for (let round = 0; round < ROUNDS; round++) {
  const times = {};
  for (const [name, [call, count]] of Object.entries(subjects)) {
    const { avg } = await measure(() => (sink = call()), {
      min_cpu_time: MIN_CPU_TIME_NS,
      min_samples: 2,
      inner_gc: false,
    });
    times[name] = avg / count;
  }
  rounds.push(times);
  progress("rounds", round + 1, ROUNDS);
}
if (sink === undefined) throw new Error("nothing was called");

const [clock] = Object.keys(subjects);
const rows = Object.keys(subjects).map((name) => {
  const ratios = rounds.map((times) => times[name] / times[clock]);
  const [low, high] = [0.25, 0.75].map((q) => quantile(ratios, q).toFixed(3));
  const ns = median(rounds.map((times) => times[name]));
  return [name, median(ratios).toFixed(3), `${low} to ${high}`, ns.toFixed(1)];
});
writeRecord(
  "text",
  "IDs as text",
  `\`npm run bench -- text\`: ${conditions()}; ${ROUNDS} interleaved rounds. Texts are flat; the IDs are ${COUNT} that were minted in one block, or each in another millisecond. Per ID, as multiples of \`Date.now()\`.

${table(["call", "x Date.now()", "middle half", "ns"], rows)}`,
);
