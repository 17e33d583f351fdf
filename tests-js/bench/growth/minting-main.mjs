// One of several threads or processes that mint at once. It makes the generators of all subjects, and then mints from one of them for
// as long as a message says, or answers with some IDs.
import { parentPort, workerData } from "node:worker_threads";
import { Layout, Snowflake } from "frazil";

/** 2^23 sequence numbers in a millisecond: 8.4 IDs a nanosecond. */
const wide = new Layout({
  epochMs: 1704067200000,
  unsigned: true,
  fields: [
    { kind: "time", bits: 38 },
    { kind: "node", bits: 3 },
    { kind: "sequence", bits: 23 },
  ],
});
/** How many IDs are minted between two looks at the time, so that the look costs little. */
const STEP = { next: 2000, 64: 320, 1024: 100 };

/**
 * The generators by what they share with those of the other threads or processes. A node id has one kind of generator in a process, and
 * `index` is 0 to 3.
 */
const { index, dir } = workerData ?? JSON.parse(process.argv[2]);
const ids = {
  "one state": () => new Snowflake({ layout: wide, node: 4 }),
  "a state each": () => new Snowflake({ layout: wide, node: index }),
  "one file": () => Snowflake.local({ layout: wide, node: 5, dir }),
  "default layout": () => new Snowflake({ node: 0, maxWaitMs: 10_000 }),
};
const made = {};
const generatorOf = (shares) => {
  made[shares] ??= ids[shares]();
  return made[shares];
};

/** Mints `times` times, by `next()` or by `fill()` of an array. */
function mintingOf({ shares, call }) {
  if (shares === "nothing")
    return (times) => {
      for (let left = times; left > 0; left--) Date.now();
    };
  const generator = generatorOf(shares);
  if (call === "next")
    return (times) => {
      for (let left = times; left > 0; left--) generator.next();
    };
  const array = new BigUint64Array(call);
  return (times) => {
    for (let left = times; left > 0; left--) generator.fill(array);
  };
}
const mintings = {};

/** Mints from `atMs` on for `ms`, and answers with the IDs of a millisecond. */
function mint({ subject, atMs, ms }) {
  const key = JSON.stringify(subject);
  mintings[key] ??= mintingOf(subject);
  const minting = mintings[key];
  const step = STEP[subject.call];
  while (Date.now() < atMs);
  const began = performance.now();
  let [steps, spentMs] = [0, 0];
  for (; spentMs < ms; spentMs = performance.now() - began) {
    minting(step);
    steps++;
  }
  return (steps * step * (subject.call === "next" ? 1 : subject.call)) / spentMs;
}

/** IDs of a generator, which must be increasing. */
function collect({ subject: { shares }, count }) {
  return generatorOf(shares).fill(new BigUint64Array(count));
}

const channel = parentPort ?? process;
const answer = (value) => (parentPort ? parentPort.postMessage(value) : process.send(value));
channel.on("message", (message) => answer(message.count === undefined ? mint(message) : collect(message)));
answer("ready");
