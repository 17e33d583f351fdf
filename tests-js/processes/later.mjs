import { setTimeout as sleep } from "node:timers/promises";

/** What faults do later: `later(ms, work)`. `allDone()` waits for it. */
export function laterWork() {
  const pending = new Set();
  return {
    later(ms, work) {
      const done = sleep(ms)
        .then(work)
        .finally(() => pending.delete(done));
      pending.add(done);
    },
    allDone: () => Promise.all(pending),
  };
}
