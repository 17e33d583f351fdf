// What a process does between two isolated calls. Each begins in another turn of the event loop and ends at the start of a millisecond.
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";

/** Waits for the clock alone. The caches stay warm: the least that an isolated call can cost. */
function spin() {
  const now = Date.now();
  while (Date.now() === now);
}

const text = JSON.stringify(
  Array.from({ length: 40 }, (_, at) => ({ at, name: `item ${at}`, tags: ["a", "b"], on: true })),
);
const memory = new Uint32Array(2 ** 19);
let kept = 0;

/** Evicts caches and branch predictors, as the rest of a request does: JSON, a regular expression, a URL, bytes, 2 MiB of memory. */
function request() {
  const items = JSON.parse(text);
  kept += JSON.stringify(items.filter(({ at }) => at % 3 === kept % 3)).length;
  kept += text.replace(/"name":"item (\d+)"/g, "$1").length;
  const url = new URL(`https://example.com/items/${kept % 1000}?page=${kept % 7}`);
  kept += url.pathname.length + (url.searchParams.get("page")?.length ?? 0);
  kept += new TextDecoder().decode(new TextEncoder().encode(text)).length;
  // One number of each line of the cache.
  for (let at = kept % 16; at < memory.length; at += 16) memory[at] += kept;
}

export const WORKLOADS = {
  "the clock alone": async () => {
    await turn();
    spin();
  },
  "a request": async () => {
    await turn();
    request();
    spin();
  },
  "a timer and a request": async () => {
    await sleep(1);
    request();
    spin();
  },
};
