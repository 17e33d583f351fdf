// A naive store of segments, written from the documentation of `SegmentStore` alone. It can be broken in named ways: the contract
// must catch every one of them.

/** What can be broken, and the scenarios that must catch it. */
export const DEFECTS = {
  "ranges overlap by one": "a range begins where the last one ended, and is as long as was asked",
  "a number is left out between ranges": "a range begins where the last one ended, and is as long as was asked",
  "the counter is the last number": "a range begins where the last one ended, and is as long as was asked",
  "every range is as long as the step": "a range begins where the last one ended, and is as long as was asked",
  "a long range is cut off": "a range begins where the last one ended, and is as long as was asked",
  "without a count there are no numbers": "without a count the store decides",
  "without a count the counter stays": "without a count the store decides",
  "without a count the limit is ignored": "without a count a range has at most maxCount numbers",
  "the step of an answer is above the limit": "without a count a range has at most maxCount numbers",
  "the limit is that of every range": "without a count a range has at most maxCount numbers",
  "numbers in floating point": "numbers are exact up to 2^63 - 2",
  "no largest number": "numbers beyond 2^63 - 2 are refused, and the refusal takes none",
  "a refusal moves the counter": "numbers beyond 2^63 - 2 are refused, and the refusal takes none",
  "other operations between reading and writing": [
    "16 processes take 20 ranges each, and none overlaps",
    "of two processes that ask at the same moment none loses numbers",
  ],
  "a lost race takes numbers": "of two processes that ask at the same moment none loses numbers",
  "an attempt is answered once": "a repeated attempt gets the same range",
  "one attempt is remembered for all processes": "a repeated attempt gets the same range",
  "every attempt of a process is the last one": "a repeated attempt gets the same range",
  "a repeated attempt moves the counter": "a repeated attempt gets the same range",
  "other operations after looking for the attempt": "an attempt beside its retry is one range",
  "an attempt that is aborted is answered anew": "an attempt that is aborted under way, and repeated, is one range",
  "an attempt is known by nothing else": "a repeated attempt is never answered below what its process was granted",
  "an attempt of before gets the numbers of the last one":
    "an attempt of before the last one repeats no numbers of others",
  "an attempt of another incarnation is forgotten": "a repeated attempt gets the same range from another incarnation",
  "a repeated attempt hides another incarnation": "a repeated attempt gets the same range from another incarnation",
  "what the process knows is ignored": "no range begins below what the process was granted",
  "a loss that the process knows skips nothing": "a counter below what a process was granted skips, above that",
  "a loss is skipped from the counter on": "a counter below what a process was granted skips, above that",
  "a process that knows less skips": "a process that knows less than the counter skips nothing",
  "another incarnation skips nothing": "another incarnation skips exactly once",
  "another incarnation skips for ever": "another incarnation skips exactly once",
  "two signs of a loss skip twice": "another incarnation skips exactly once",
  "every skip has the same length": "two losses of the same record skip to different numbers",
  "a skip is shorter than was asked": "another incarnation skips exactly once",
  "a missing counter is made": "a missing counter is refused, and never made",
  "a missing counter is unavailable": "a missing counter is refused, and never made",
  "a counter that is there begins again": "a counter is made once, and stays as it is",
  "a counter is always made": "a counter is made once, and stays as it is",
  "a counter is made by reading and writing": "a counter is made once, and stays as it is",
  "tags without case": "tags are isolated, whatever characters they have",
  "tags without blanks at their end": "tags are isolated, whatever characters they have",
  "tags of 64 characters": "tags are isolated, whatever characters they have",
  "tags in one normal form": "tags are isolated, whatever characters they have",
  "tags with escapes": "tags are isolated, whatever characters they have",
  "any tag": "bad requests are refused, and take no numbers",
  "tags that have no UTF-8": "bad requests are refused, and take no numbers",
  "any count": "bad requests are refused, and take no numbers",
  "any attempt": "bad requests are refused, and take no numbers",
  "a bad request moves the counter": "bad requests are refused, and take no numbers",
  "the signal is ignored": "a call with an aborted signal rejects with its reason",
};

const STEP = 1000;
const LARGEST = 2n ** 63n - 2n;

/** Lets other operations run in between. */
const interleave = () => new Promise((resolve) => setImmediate(resolve));
const failed = (code) => Object.assign(new Error(code), { code });
const isWhole = (value, min) => Number.isSafeInteger(value) && value >= min;
const isHex = (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value);

/** The store, and what the contract may do to it. `defect` is a key of `DEFECTS`, or nothing. */
export function openNaiveSegments(defect) {
  const is = (name) => {
    if (!(name in DEFECTS)) throw new Error(`unknown defect: ${name}`);
    return defect === name;
  };
  if (defect !== undefined) is(defect);
  const counters = new Map();
  let incarnation = 1;

  /** The name under which a tag is kept. */
  function keyOf(tag) {
    if (is("tags without case")) return tag.toLowerCase();
    if (is("tags without blanks at their end")) return tag.replace(/ +$/, "");
    if (is("tags of 64 characters")) return tag.slice(0, 64);
    if (is("tags in one normal form")) return tag.normalize("NFC");
    if (is("tags with escapes")) return tag.replace(/\\(.)/g, "$1");
    return tag;
  }

  function check({ tag, count, maxCount, above, failoverSkip, holder, attempt }) {
    const good = [
      is("any tag") ||
        (typeof tag === "string" &&
          tag !== "" &&
          tag.length <= 128 &&
          (is("tags that have no UTF-8") || !/[\0\ud800-\udfff]/u.test(tag))),
      is("any count") || count === undefined || isWhole(count, 1),
      is("any count") || isWhole(maxCount, 1),
      typeof above === "bigint" && above >= 0n,
      isWhole(failoverSkip, 0),
      is("any attempt") || (isHex(holder) && isHex(attempt)),
    ];
    if (good.every(Boolean)) return;
    if (is("a bad request moves the counter") && counters.has(tag)) counters.get(tag).next++;
    throw failed("INVALID_ARGUMENT");
  }

  const init = async (tag, first) => {
    const known = counters.get(keyOf(tag));
    if (is("a counter is made by reading and writing")) await interleave();
    if (known && !is("a counter that is there begins again")) return is("a counter is always made");
    counters.set(keyOf(tag), { next: first, incarnation, recent: new Map() });
    return true;
  };

  const store = {
    name: "memory",
    async allocate(request) {
      if (!is("the signal is ignored")) request?.signal?.throwIfAborted();
      if (request === null || typeof request !== "object") throw failed("INVALID_ARGUMENT");
      check(request);
      const { tag, above, failoverSkip, attempt, signal } = request;
      let { holder } = request;
      if (is("a missing counter is made") && !counters.has(keyOf(tag))) await init(tag, 1n);
      const counter = counters.get(keyOf(tag));
      if (counter === undefined)
        throw failed(is("a missing counter is unavailable") ? "STORE_UNAVAILABLE" : "STORE_NOT_INITIALISED");
      if (is("one attempt is remembered for all processes")) holder = "all";

      const step = is("without a count the limit is ignored") ? STEP : Math.min(STEP, request.maxCount);
      // A skip is as long as is asked, and less than twice as long.
      let skip = BigInt(failoverSkip) + BigInt(Math.floor(Math.random() * failoverSkip));
      if (is("every skip has the same length")) skip = BigInt(failoverSkip);
      if (is("a skip is shorter than was asked")) skip /= 3n;
      const isNew = counter.incarnation !== incarnation && !is("another incarnation skips nothing");
      if (isNew && is("an attempt of another incarnation is forgotten")) counter.recent.clear();
      const recent = counter.recent.get(holder);
      const isLast = recent?.attempt === attempt || is("every attempt of a process is the last one");
      const isOld =
        is("an attempt of before gets the numbers of the last one") && recent?.before?.includes(attempt) === true;
      const isAbove = recent?.first >= above || is("an attempt is known by nothing else");
      if (recent && (isLast || isOld) && isAbove && !is("an attempt is answered once")) {
        if (isNew && !is("a repeated attempt hides another incarnation")) counter.next += skip;
        counter.incarnation = incarnation;
        if (is("a repeated attempt moves the counter")) counter.next += BigInt(recent.count);
        return { attempt, first: recent.first, count: recent.count, step };
      }
      if (is("other operations after looking for the attempt")) await interleave();

      let count = request.count ?? step;
      if (is("the limit is that of every range")) count = Math.min(count, request.maxCount);
      if (is("every range is as long as the step")) count = STEP;
      if (is("a long range is cut off")) count = Math.min(count, 2 ** 31);
      if (request.count === undefined && is("without a count there are no numbers")) count = 0;
      const { next } = counter;
      if (is("other operations between reading and writing")) await interleave();
      if (is("a lost race takes numbers")) {
        const seen = counter.next;
        await interleave();
        if (counter.next !== seen) counter.next += BigInt(count);
      }
      const base = is("other operations between reading and writing") ? next : counter.next;
      const knowsMore = above > base && !is("what the process knows is ignored");
      let first = knowsMore ? above : base;
      if (knowsMore && is("a loss is skipped from the counter on")) first = base;
      if (isNew || (knowsMore && !is("a loss that the process knows skips nothing"))) first += skip;
      if (isNew && knowsMore && is("two signs of a loss skip twice")) first += skip;
      if (above < base && above > 0n && is("a process that knows less skips")) first += skip;
      if (is("ranges overlap by one") && first > 1n) first -= 1n;
      if (is("a number is left out between ranges")) first += 1n;
      if (is("numbers in floating point")) first = BigInt(Number(first));
      const end = first + BigInt(count);
      if (end - 1n > LARGEST && !is("no largest number")) {
        if (is("a refusal moves the counter")) counter.next = LARGEST;
        throw failed("STORE_REFUSED");
      }
      counter.next = end;
      if (is("the counter is the last number")) counter.next = end - 1n;
      if (request.count === undefined && is("without a count the counter stays")) counter.next = base;
      if (!is("another incarnation skips for ever")) counter.incarnation = incarnation;
      const before = [...(recent?.before ?? []), recent?.attempt];
      if (is("an attempt that is aborted is answered anew")) {
        await interleave();
        signal?.throwIfAborted();
      }
      counter.recent.set(holder, { attempt, first, count, before });
      return { attempt, first, count, step: is("the step of an answer is above the limit") ? STEP : step };
    },
  };

  return {
    store,
    init,
    changeIncarnation: async () => {
      incarnation++;
    },
    async saveRecord(tag) {
      const { next, incarnation: written, recent } = counters.get(keyOf(tag));
      const saved = [...recent];
      return async () => {
        counters.set(keyOf(tag), { next, incarnation: written, recent: new Map(saved) });
      };
    },
  };
}
