// The checks that run inside every runtime: the vectors, and minting in all the ways the package offers. They use no test
// runner, no file system and only the globals of the language and timers, so that a bundle of this file runs in Workers, pages
// and processes.
import * as frazil from "frazil";
import * as decoder from "frazil/decode";
import * as layoutOnly from "frazil/layout";
import * as publicForms from "frazil/public";
import { manualClock, seededIds } from "frazil/testing";
import * as text from "frazil/text";
import { anyId, defineId } from "frazil/typed";
import errorCases from "../../crates/core/vectors/errors.json";
import generation from "../../crates/core/vectors/generation.json";
import ids from "../../crates/core/vectors/ids.json";
import layouts from "../../crates/core/vectors/layouts.json";
import publicCases from "../../crates/core/vectors/public.json";
import ranges from "../../crates/core/vectors/ranges.json";
import segmentCases from "../../crates/core/vectors/segments.json";
import texts from "../../crates/core/vectors/text.json";
import * as frame from "../../npm/frazil/src/generated/abi.ts";
import * as errors from "../../npm/frazil/src/generated/errors.ts";
import * as segment from "../../npm/frazil/src/generated/segment.ts";
import { repeats, wrapping } from "../generator/broken-generators.mjs";
import {
  checkDecoder,
  checkErrors,
  checkGeneration,
  checkIds,
  checkLayouts,
  checkRanges,
  checkSegments,
  checkText,
} from "../vectors/check.mjs";
import { checkPublic } from "../vectors/check-public.mjs";

const { FrazilError, Snowflake } = frazil;
const slot = { ...frame, ...frame.Frame, ...frame.Slot };

function must(condition, sentence) {
  if (!condition) throw new Error(sentence);
}

/** Checks every file of vectors, and returns the number of cases of each. */
export function checkVectors() {
  new Snowflake({ node: 0 }); // connects the realm to the core
  for (const [name, value] of Object.entries(layoutOnly))
    must(value === frazil[name], `frazil/layout has another ${name} than frazil`);
  const boundary = { ...frazil, slot, errors, segment, port: globalThis[Symbol.for("frazil")].connect() };
  const counts = {
    layouts: checkLayouts(frazil, layouts),
    ids: checkIds(frazil, ids),
    ranges: checkRanges(frazil, ranges),
    generation: checkGeneration(boundary, generation),
    errors: checkErrors(boundary, errorCases),
    segments: checkSegments(boundary, segmentCases),
    public: checkPublic(publicForms, publicCases),
    text: checkText(text, texts),
    "frazil/decode": checkDecoder(decoder, layouts, ids),
    "frazil/typed": checkTyped(texts),
  };
  const wrong = { ...ids, valid: [{ ...ids.valid[0], id: "1" }] };
  const { message } = thrown(() => checkIds(frazil, wrong));
  must(/^1 of \d+ cases failed/.test(message), `the checker must detect a wrong vector, but: ${message}`);
  const typed = thrown(() =>
    checkTyped({ ...texts, read: [{ ...texts.read[0], text: texts.ids[0].fixed[texts.read[0].form] }] }),
  );
  must(/ has two texts$/.test(typed.message), `the checker must detect a second text, but: ${typed.message}`);
  return counts;
}

/** Typed IDs in each form: the texts of the vectors, of which an ID has one. Returns the number of IDs. */
function checkTyped({ forms, ids, read }) {
  const typed = forms.filter(({ alphabet }) => !alphabet.includes("_")).map(({ name }) => [name, { form: text[name] }]);
  for (const [name, options] of [...typed, ["base62", {}]]) {
    const Typed = defineId("usr", { layout: "tsid", ...options });
    for (const { id, fixed } of ids) {
      const written = `usr_${fixed[name]}`;
      must(Typed.format(BigInt(id)) === written, `${name}: ${id} is not ${written}`);
      must(anyId(Typed).parse(written).id === BigInt(id), `${name}: ${written} is not ${id}`);
    }
    for (const { form, short, text: other } of read)
      must(form !== name || short || !Typed.is(`usr_${other}`), `${name}: the ID of ${other} has two texts`);
  }
  return ids.length;
}

function thrown(call) {
  try {
    return new Error(`returned ${String(call())}`);
  } catch (error) {
    return error;
  }
}

/** Calls `next` that many times. Returns the IDs, and how often each kind of refusal (code and `retryAfterMs`) came. */
export function collect(next, calls) {
  const issued = [];
  const refusals = {};
  for (let call = 0; call < calls; call++) {
    try {
      issued.push(next());
    } catch (error) {
      must(FrazilError.is(error), `not an error of ours: ${error?.stack}`);
      const kind = `${error.code} ${error.retryAfterMs}`;
      refusals[kind] = (refusals[kind] ?? 0) + 1;
    }
  }
  return { issued, report: { ...summaryOf(issued), refusals } };
}

export function summaryOf(ids) {
  return { issued: ids.length, repeats: repeats(ids), increasing: ids.every((id, at) => at === 0 || ids[at - 1] < id) };
}

/** Throws unless there are IDs, none is repeated, and each is larger than the one before. */
function checkUnique(name, { issued, repeats, increasing }) {
  must(issued > 0, `${name}: nothing was issued`);
  must(repeats === 0, `${name}: ${repeats} of ${issued} are repeats`);
  must(increasing, `${name}: not increasing`);
}

/** The time of clocks that stand still: 2026-05-28. */
const STILL = 1_780_000_000_000;

/** Mints with `Snowflake.local()`: returns `"minted"`, or the code of the refusal. */
function localOf(dir, options) {
  try {
    // A separate scope, because the vectors use generators with the static node id 0.
    const ids = Snowflake.local({ dir, scope: "runtimes", ...options });
    checkUnique("from a state file", summaryOf(ids.nextMany(10_000)));
    ids.close();
    return "minted";
  } catch (error) {
    must(FrazilError.is(error), `not an error of ours: ${error?.stack}`);
    return error.code;
  }
}

/** Mints what tests mint: the same IDs in each runtime, with their own state. */
async function checkTesting() {
  const seeded = seededIds();
  const issued = [seeded.next(), ...seeded.nextMany(2), await seeded.nextAsync()];
  must(
    `${issued}` === "132633958809604096,132633963003908096,132633963003908097,132633967198212096",
    `frazil/testing: ${issued}`,
  );
  const clock = manualClock(STILL);
  clock.advance(60_000);
  const ids = new Snowflake({ node: 0, now: clock.now });
  must(ids.decode(ids.next()).timestampMs === STILL + 60_000, "frazil/testing: the clock");
}

/**
 * Mints in every way there is, with a node id that nothing else in this realm uses. `refusals` are those of a loop of 100,000
 * calls of `next` under the wall clock, and `waitedMs` is how long the calls waited. With the addon a state file is created in
 * `dir`, with these options besides; without it, `Snowflake.local()` must be refused.
 */
export async function checkMinting(node, dir, options = {}) {
  await checkTesting();
  const ids = new Snowflake({ node, maxWaitMs: 1000 });
  const before = Date.now();
  // The first ID is awaited: within the lead after the start of a page or process no ID is issued.
  const first = await ids.nextAsync();
  const { timestampMs, node: decoded } = ids.decode(first);
  must(decoded === node, `node ${decoded}`);
  must(Math.abs(timestampMs - before) < 10_000, `${timestampMs} at ${before}`);
  const issued = [
    [first, ids.next(), BigInt(ids.nextString())],
    ids.nextMany(100),
    [...ids.fill(new BigUint64Array(1000))],
    // Each call asks for more than the lead allows, so that it has to wait. Three calls, because a paused thread may find that
    // enough time has passed anyway.
    await ids.nextManyAsync(15 * 4096),
    await ids.nextManyAsync(15 * 4096),
    await ids.nextManyAsync(15 * 4096),
  ].flat();
  checkUnique("in every way", summaryOf(issued));

  const second = new Snowflake({ node, maxWaitMs: 1000 });
  issued.push(await second.nextAsync(), await ids.nextAsync(), await second.nextAsync());
  must(repeats(issued) === 0, "a second generator with the node id repeats the first");
  const unshared = [0, 1].map(() => new Snowflake({ node, now: () => STILL }).next());
  must(repeats(unshared) === 1, "the checker must catch two generators that share no state");

  const looped = collect(ids.next, 100_000).report;
  checkUnique("in a loop", looped);
  const still = collect(new Snowflake({ node, now: () => STILL, maxLeadMs: 10, maxWaitMs: 0 }).next, 100_000).report;
  checkUnique("on a clock that stands still", still);
  const expected = { issued: 11 * 4096, refusals: { "SEQUENCE_EXHAUSTED 1": 100_000 - 11 * 4096 } };
  const { refusals } = still;
  must(JSON.stringify({ issued: still.issued, refusals }) === JSON.stringify(expected), JSON.stringify(still));
  must(
    collect(
      wrapping(() => STILL),
      100_000,
    ).report.repeats > 0,
    "the checker must catch the mutant",
  );
  const local = localOf(dir, options);
  must(local === (ids.backend === "native" ? "minted" : "NATIVE_REQUIRED"), `Snowflake.local(): ${local}`);
  return { backend: ids.backend, refusals: Object.keys(looped.refusals), waitedMs: ids.stats().waitedMs };
}
