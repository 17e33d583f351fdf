// A process that takes numbers of a tag and appends them to a file, of either generation. Options as JSON: out, url, of ("Leaf",
// "Tinyid" or "CosId"), isOld, tag, options (of the generator), mutant (broken: a name in `MUTANTS`), batch, pauseMs.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Segment } from "frazil/segment";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { CosId } from "./old-cosid-segments.mjs";
import { Leaf } from "./old-leaf-segments.mjs";
import { Tinyid } from "./old-tinyid.mjs";

const GENERATIONS = {
  Leaf: { Old: Leaf, Store: LeafSegments },
  Tinyid: { Old: Tinyid, Store: TinyidSegments },
  CosId: { Old: CosId, Store: CosIdSegments },
};

/** A store whose answers are changed, and which does not see what it had itself. */
const changed = (store, change) => ({
  name: store.name,
  allocate: async (request) => change(await store.allocate({ ...request, above: 0n })),
});

/** Broken variants of the stores, which the checker must catch. */
const MUTANTS = {
  /** The counter is taken for the next number, as that of Leaf is, where it is the last one that was taken. */
  "bounds of Leaf": (pool, Store) =>
    changed(new Store(pool), ({ first, ...answer }) => ({ ...answer, first: first - 1n })),
  /** The counter is taken for the last number, as those of Tinyid and CosId are, where it is the next one. */
  "bounds of CosId": (pool, Store) =>
    changed(new Store(pool), ({ first, ...answer }) => ({ ...answer, first: first + 1n })),
  /** Every number of the distance, and not only those with the remainder. */
  "ignores delta": (pool, Store) =>
    changed(new Store(pool), ({ count, stride, ...answer }) => ({ ...answer, count: (count - 1) * stride + 1 })),
  /** The counter is written whatever it is by then. */
  "writes without comparing": (pool, Store) => {
    const query = ({ sql, ...statement }, values) => {
      const unchecked = sql.replace(
        /\b(\w*max_id|version) = CAST\(\? AS SIGNED\)(?=\s+AND)/g,
        "CAST(? AS SIGNED) IS NOT NULL",
      );
      return pool.query({ ...statement, sql: unchecked }, values);
    };
    return new Store({ query });
  },
};

const { out, url, of, isOld, tag, options, mutant, batch, pauseMs } = JSON.parse(process.argv[2]);
const { Old, Store } = GENERATIONS[of];
const pool = mysql.createPool({ uri: url, connectionLimit: 2 });

/** Calls that resolve to `count` numbers. */
function oldNumbers() {
  const generator = new Old(pool, tag, options);
  let isInitialised = generator.init === undefined;
  return async (count) => {
    if (!isInitialised) await generator.init();
    isInitialised = true;
    const numbers = new BigUint64Array(count);
    for (let at = 0; at < count; at++) numbers[at] = BigInt(await generator.next());
    return numbers;
  };
}
function newNumbers() {
  const store = mutant === undefined ? new Store(pool) : MUTANTS[mutant](pool, Store);
  const segment = new Segment(store, { tag, ...options });
  return (count) => segment.fill(new BigUint64Array(count));
}

const numbers = isOld ? oldNumbers() : newNumbers();
const file = openSync(join(out, `${isOld ? "old" : "new"}-${process.pid}.ids`), "a");
/** What ends a program of the new generation. Those of the old one report it, and go on. */
const isFatal = (error) => !isOld && mutant === undefined && !error.retryable;
let last = -1n;
for (;;) {
  try {
    const taken = await numbers(batch);
    for (const number of taken) {
      if (number <= last && !isOld) throw new Error(`${number} after ${last}`);
      last = number;
    }
    writeSync(file, taken);
  } catch (error) {
    if (isFatal(error)) {
      process.stderr.write(`${error.stack}\n`);
      process.exit(3);
    }
  }
  await sleep(pauseMs);
}
