// A Worker that mints: at module scope, where the clock shows 0, and in requests, in which the clock stands still. The path of a
// request selects what to do; the response is the result.
import { FrazilError, Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { wrapping } from "../../generator/broken-generators.mjs";
import { checkMinting, checkVectors, collect, summaryOf } from "../checks.mjs";
import { resultOf } from "../json-result.mjs";

/** What a call throws, in a form that JSON can hold. */
function refusal(call) {
  try {
    return { returned: String(call()) };
  } catch (error) {
    const { code, field, retryAfterMs, maxCount } = error;
    return { ours: FrazilError.is(error), code, field, retryAfterMs, maxCount };
  }
}

const ids = new Snowflake({ node: 1 });
const spread = new Snowflake({ node: 40, sequenceStart: "random" });
const moduleScope = {
  now: Date.now(),
  registry: typeof FinalizationRegistry,
  backend: ids.backend,
  next: refusal(ids.next),
  nextMany: refusal(() => ids.nextMany(10)),
  spread: refusal(spread.next),
  decoded: decode("175928847299117063", "discord").date,
  layout: Layout.named("twitter").decode("1541815603606036480").date,
};

/** Runs with a clock that stands still, as in a request in production. */
async function frozen(work) {
  const { now } = Date;
  const still = now();
  Date.now = () => still;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

/** Runs with the clock of production: it stands still except when a timer fires (EDGE, section 1). */
async function frozenBetweenTimers(work) {
  const { now } = Date;
  const { setTimeout } = globalThis;
  let still = now();
  Date.now = () => still;
  globalThis.setTimeout = (call, ms) =>
    setTimeout(() => {
      still = now();
      call();
    }, ms);
  try {
    return await work();
  } finally {
    Date.now = now;
    globalThis.setTimeout = setTimeout;
  }
}

/** Calls and awaits `next` that many times. */
async function collectAsync(next, calls) {
  const issued = [];
  for (let call = 0; call < calls; call++) issued.push(await next());
  return summaryOf(issued);
}

let earlier = [];

const ANSWERS = {
  "random-start": () => collectAsync(spread.nextAsync, 200),
  "module-scope": () => moduleScope,
  // The generator of module scope, now that the clock shows a time.
  "after-module-scope": () => {
    const id = ids.next();
    return { id: String(id), lateMs: Date.now() - ids.decode(id).timestampMs };
  },
  vectors: () => checkVectors(),
  minting: () => checkMinting(2),
  "100000-frozen": () =>
    frozen(() => {
      const { issued, report } = collect(new Snowflake({ node: 3 }).next, 100_000);
      earlier = issued;
      return { ours: report, broken: collect(wrapping(), 100_000).report };
    }),
  // The next request in the isolate, until it is refused; its IDs are compared with those of the one before.
  "frozen-again": () => frozen(() => summaryOf([...earlier, ...collect(new Snowflake({ node: 3 }).next, 5000).issued])),
  "100000-waiting": () =>
    frozenBetweenTimers(async () => {
      const ids = new Snowflake({ node: 4 });
      const report = await collectAsync(ids.nextAsync, 100_000);
      return { ...report, waitedMs: ids.stats().waitedMs };
    }),
  "never-thawing": () =>
    frozen(async () => {
      const ids = new Snowflake({ node: 5, maxAsyncWaitMs: 50 });
      ids.nextMany(4096);
      const started = performance.now();
      const error = await ids.nextAsync().catch((error) => error);
      return { ...refusal(() => throwing(error)), tookMs: performance.now() - started };
    }),
  options: () => ({
    lead0: refusal(() => new Snowflake({ node: 6, maxLeadMs: 0 }).nextString().length > 15),
    lead5: refusal(() => new Snowflake({ node: 6, maxLeadMs: 5 })),
    tooMany: refusal(() => new Snowflake({ node: 6 }).nextMany(4097)),
  }),
  // Many such requests run at once: each has its own generator, and all share one state in the isolate.
  together: async () => {
    const ids = new Snowflake({ node: 7 });
    const issued = [];
    for (let at = 0; at < 20; at++) {
      issued.push(...(await ids.nextManyStringsAsync(100)));
      await scheduler.wait(1);
    }
    return issued;
  },
};

function throwing(error) {
  throw error;
}

export default {
  async fetch(request) {
    return Response.json(await resultOf(ANSWERS[new URL(request.url).pathname.slice(1)]));
  },
};
