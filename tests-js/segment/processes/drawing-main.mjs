// The program of a process that draws numbers of many tags until it is killed, or told by SIGTERM to close. It writes them to a file
// before it draws the next ones, and to another one what it asks of the store, and what it is answered: the kernel keeps what was
// written, however the process ends.
//
// The task is JSON: `out` (a folder), `life` (the name of the files), `store` (`module` with `connectStore(address)`, its `address`, and
// its `defect`), `tags` (how many), `step`, `failoverSkip`, `batch` (the most numbers of a tag at a time), `pauseMs` (after each batch).
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { encoded } from "./drawn-numbers.mjs";

const { out, life, store: at, tags, step, failoverSkip, batch, pauseMs } = JSON.parse(process.argv[2]);

/** Refusals that end by themselves. Anything else ends the process, and the test. */
const TEMPORARY = ["SEGMENT_EXHAUSTED", "STORE_UNAVAILABLE"];

async function retry(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!TEMPORARY.includes(error.code)) throw error;
      await sleep(Math.min(error.retryAfterMs ?? 50, 200));
    }
  }
}

let isClosing = false;
process.once("SIGTERM", () => {
  isClosing = true;
  for (const segment of segments) segment.close();
});

const segments = [];
try {
  const { connectStore } = await import(at.module);
  const { store } = await retry(() => connectStore(at.address, at.defect));
  const log = openSync(join(out, `${life}.log`), "a");
  const note = (entry) => writeSync(log, `${JSON.stringify(entry)}\n`);
  const noting = {
    name: "noting",
    async allocate(request) {
      const { tag, holder, attempt, count } = request;
      note({ tag, holder, attempt, count });
      const answer = await store.allocate(request);
      note({ tag, attempt, first: `${answer.first}`, count: answer.count });
      return answer;
    },
  };
  const file = openSync(join(out, `${life}.ids`), "a");
  for (let tag = 0; tag < tags; tag++)
    segments.push(
      new Segment(noting, { tag: `tag-${tag}`, step, maxStep: step, failoverSkip, maxAsyncWaitMs: 20_000 }),
    );
  while (!isClosing) {
    const tag = Math.floor(tags * Math.random());
    const numbers = [];
    const wanted = 1 + Math.floor(batch * Math.random());
    while (numbers.length < wanted && !isClosing) {
      const number = await retry(() => segments[tag].next()).catch((error) => {
        if (error.code !== "CLOSED") throw error;
      });
      if (number !== undefined) numbers.push(encoded(tag, number));
    }
    writeSync(file, new BigUint64Array(numbers));
    await sleep(pauseMs);
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(3);
}
