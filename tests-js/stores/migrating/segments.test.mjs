// Segments from the tables of Leaf, Tinyid and CosId, beside their own processes: a real MariaDB, and processes of both generations
// that take numbers of one tag.
//
// FRAZIL_MOVING_S is the duration of a run of the fleets.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC } from "./old-leaf-segments.mjs";
import { TINY_ID_INFO } from "./old-tinyid.mjs";
import { ENOUGH, shown, startSegments } from "./segments-fleet.mjs";

const SECONDS = Number(process.env.FRAZIL_MOVING_S ?? 6);
/** How long a mutant may take until a number repeats. */
const MUTANT_SECONDS = 60;

let server;
before(async () => {
  server = await MySqlServer.start({ "innodb-flush-log-at-trx-commit": 1 });
});
after(() => server?.crash());

let databases = 0;
/** A new database with the tables, and a row of each for the tag orders. Numbers begin at 1. */
async function oldDatabase({ delta = 1, remainder = 0 } = {}) {
  const database = `segments${++databases}`;
  await server.query(`CREATE DATABASE ${database}`);
  await server.query(
    `${LEAF_ALLOC}; ${TINY_ID_INFO}; ${COSID};
    INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 100);
    INSERT INTO tiny_id_info (biz_type, step, delta, remainder) VALUES ('orders', ${100 * delta}, ${delta}, ${remainder});
    INSERT INTO cosid (name) VALUES ('orders')`,
    [],
    database,
  );
  return { tag: "orders", url: `mysql://root@127.0.0.1:${server.port}/${database}`, database };
}

/** A minute of Leaf in these tests: it doubles its step under 30 ms, and halves it over 60. */
const MINUTE_MS = 2;
const OLD_LEAF = { options: { minuteMs: MINUTE_MS } };
const FRESH = { options: { growBelowMs: 15 * MINUTE_MS, shrinkAboveMs: 30 * MINUTE_MS, maxStep: 2000 } };
/** The clients of CosId have steps of their own. */
const OLD_COSID = [
  { options: { step: 10 } },
  { options: { step: 100, chained: true } },
  { options: { step: 30, chained: true } },
];

/** What the fleets are: `old` and `fresh`, the tasks of the processes, and `counter`, which reads where the counter is. */
const FLEETS = {
  async Leaf() {
    const { database, ...task } = await oldDatabase();
    return {
      old: Array.from({ length: 3 }, () => ({ ...task, ...OLD_LEAF })),
      fresh: Array.from({ length: 3 }, () => ({ ...task, ...FRESH })),
      counter: `SELECT CAST(max_id - 1 AS CHAR) AS last FROM ${database}.leaf_alloc`,
    };
  },
  /** Two databases, one of which has the even numbers. Each process of Tinyid uses one. */
  async Tinyid() {
    const [even, odd] = [await oldDatabase({ delta: 2 }), await oldDatabase({ delta: 2, remainder: 1 })];
    const taskOf = ({ database, ...task }) => task;
    return {
      old: [even, odd, odd].map(taskOf),
      fresh: [even, even, odd].map((task) => ({ ...taskOf(task), ...FRESH })),
      counter: `SELECT CAST(GREATEST((SELECT max_id FROM ${even.database}.tiny_id_info),
        (SELECT max_id FROM ${odd.database}.tiny_id_info)) AS CHAR) AS last`,
    };
  },
  async CosId() {
    const { database, ...task } = await oldDatabase();
    return {
      old: OLD_COSID.map((more) => ({ ...task, ...more })),
      fresh: Array.from({ length: 3 }, (_, at) => ({ ...task, options: { ...FRESH.options, step: 40 + at } })),
      counter: `SELECT CAST(last_max_id AS CHAR) AS last FROM ${database}.cosid`,
    };
  },
};

test(`both generations under faults repeat no number, for ${SECONDS} s`, async (t) => {
  const fleets = await Promise.all(
    Object.entries(FLEETS).map(async ([of, fleet]) => {
      const { counter, ...tasks } = await fleet();
      return { of, counter, run: await startSegments({ ...tasks, of }) };
    }),
  );
  const runs = Promise.all(fleets.map(({ run }) => run(SECONDS)));
  // What the server has answered outlasts its crash.
  await sleep(500 * SECONDS);
  await server.crash();
  await server.start();
  const all = await runs;
  for (const [at, { of, counter }] of fleets.entries()) {
    const counted = all[at];
    const last = BigInt((await server.query(counter))[0].last);
    t.diagnostic(`${of}: ${shown(counted)}`);
    const { repeats, gaveUp, old, fresh, largest, struck } = counted;
    assert.deepEqual(gaveUp, [], of);
    assert.equal(repeats, 0, of);
    assert.ok(old > ENOUGH && fresh > ENOUGH, of);
    assert.ok(largest <= last, `${of}: ${largest} is above the counter, ${last}`);
    assert.ok(struck.killed > 0 && struck.stopped > 0, of);
  }
});

describe("mutants", { concurrency: true }, () => {
  for (const [of, mutant] of [
    ["Leaf", "writes without comparing"],
    ["Tinyid", "writes without comparing"],
    ["Leaf", "bounds of CosId"],
    ["Tinyid", "bounds of Leaf"],
    ["CosId", "bounds of Leaf"],
    ["Tinyid", "ignores delta"],
  ])
    test(`the checker catches a Frazil that ${/^bounds/.test(mutant) ? "takes the " : ""}${mutant}, with ${of}`, async (t) => {
      const { old, fresh } = await FLEETS[of]();
      // Frazil has the even numbers of Tinyid. The old generation is in the same database, or has the odd ones.
      const beside = old[mutant === "writes without comparing" ? 0 : 2];
      const run = await startSegments({ of, mutant, old: [beside], fresh: fresh.slice(0, 2) });
      const counted = await run(MUTANT_SECONDS);
      t.diagnostic(shown(counted));
      assert.ok(counted.repeats > 0);
    });
});
