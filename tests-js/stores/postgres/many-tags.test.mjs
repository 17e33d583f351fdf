// Many tags of one store object that all ask at the same moment, over a pool of two connections; and the errors if the store gets no
// connection.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { told } from "../../base/rule-texts.mjs";
import { allocation, newTag } from "../kit/segments.mjs";
import { PostgresServer, poolTo } from "./server.mjs";

let server;
let pool;
before(async () => {
  server = await PostgresServer.start();
  pool = poolTo(server.url, { max: 2 });
  await new PostgresStore(pool).migrate();
  await server.query("INSERT INTO frazil_segments SELECT 't' || n, 1, '[]', '' FROM generate_series(1, 2000) AS n");
});
after(async () => {
  await pool.end();
  await server.stop();
});

test("2,000 tags ask at once: each gets its numbers, and their reads do not wait before all writes", async () => {
  const began = new Set();
  const crowds = [];
  const startMs = performance.now();
  const store = new PostgresStore({
    async query(text, values) {
      const statement = {};
      began.add(statement);
      // 16 at once. A turn ends after half a second (499 ms by this clock, as timers round): so 16 more for each that has gone by.
      const elapsedMs = performance.now() - startMs;
      if (began.size > 16 * (1 + Math.floor(elapsedMs / 499))) crowds.push(`${began.size} after ${elapsedMs} ms`);
      return pool.query(text, values).finally(() => began.delete(statement));
    },
  });
  const segments = Array.from(
    { length: 2000 },
    (_, at) => new Segment(store, { tag: `t${at + 1}`, step: 10, maxAsyncWaitMs: 600_000 }),
  );
  const numbers = await Promise.all(segments.map((segment) => segment.next()));
  for (const segment of segments) segment.close();
  assert.ok(numbers.every((number) => number >= 1n && number < 21_000_000n));
  assert.deepEqual(crowds, [], "statements that waited for two connections at once");
});

test("a call that is given up while it waits for its turn leaves the others theirs", async () => {
  const store = new PostgresStore(pool);
  const tags = Array.from({ length: 40 }, (_, at) => `t${at + 1}`);
  const controller = new AbortController();
  const given = (tag, at) => store.allocate(allocation({ tag, ...(at % 2 && { signal: controller.signal }) }));
  const calls = tags.map(given);
  controller.abort(new Error("given up"));
  const results = await Promise.allSettled(calls);
  for (const [at, { status, reason }] of results.entries()) {
    assert.equal(status, at % 2 ? "rejected" : "fulfilled");
    if (at % 2) assert.equal(reason.message, "given up");
  }
  assert.ok((await store.allocate(allocation({ tag: "t1" }))).first > 1n);
});

test("16 calls that are given up while they wait for the pool let no other wait there for half a second", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const own = poolTo(server.url, { max: 1 });
  const taken = await own.connect();
  const store = new PostgresStore(own);
  const controller = new AbortController();
  const { signal } = controller;
  const given = Array.from({ length: 16 }, (_, at) => store.allocate(allocation({ tag: `t${at + 1}`, signal })));
  const other = store.allocate(allocation({ tag: "t1600" }));
  await new Promise(setImmediate);
  controller.abort(new Error("given up"));
  for (const call of given) await assert.rejects(call, { message: "given up" });
  await new Promise(setImmediate);
  assert.equal(own.waitingCount, 16);
  taken.release();
  t.mock.timers.tick(500);
  assert.ok((await other).first >= 1n);
  await own.end();
});

test("a pool whose connections are all in use: the error of a call says so", async () => {
  const tag = newTag();
  await new PostgresStore(pool).initSegment({ tag });
  const taken = [await pool.connect(), await pool.connect()];
  const segment = new Segment(new PostgresStore(pool), { tag });
  const message =
    /the pool has no free connection \(in use: 2, waiting: \d+\)\. Retry after \d+ ms\. The database does not answer, .*their own pool/;
  await assert.rejects(segment.next(), told({ code: "SEGMENT_EXHAUSTED", message }));
  for (const client of taken) client.release();
  assert.ok((await segment.next()) >= 1n);
  segment.close();
});

test("a Client that was never connected: calls of those who run the store end, and say so", async () => {
  const store = new PostgresStore(new pg.Client(server.url));
  const calls = [
    store.migrate(),
    store.init({ layout: "default" }),
    store.initSegment({ tag: "orders" }),
    store.fence({ scope: "default" }),
  ];
  const message =
    /\(\) had no answer within \d+ ms in the postgres store, so it is unknown whether it took place: the Client of pg was never connected.*await client\.connect\(\)/;
  for (const call of calls) await assert.rejects(call, told({ code: "STORE_UNAVAILABLE", retryable: true, message }));
});

test("16 tags whose rows are locked do not stop the others of the store object", async () => {
  const wide = poolTo(server.url, { max: 40 });
  const locker = new pg.Client({ connectionString: server.url });
  await locker.connect();
  await locker.query("BEGIN");
  await locker.query(
    "SELECT 1 FROM frazil_segments WHERE tag IN (SELECT 't' || n FROM generate_series(1, 16) AS n) FOR UPDATE",
  );
  const store = new PostgresStore(wide);
  const locked = Array.from({ length: 16 }, (_, at) => store.allocate(allocation({ tag: `t${at + 1}` })));
  // It waits for nothing but a turn, and the rows stay locked until it has its numbers.
  assert.ok((await store.allocate(allocation({ tag: "t1900" }))).first >= 1n);
  await locker.query("ROLLBACK");
  await Promise.all(locked);
  await locker.end();
  await wide.end();
});

test("a record that nobody changes and that a trigger keeps: the error says so, within the time of an attempt", async () => {
  await server.query(`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER keep BEFORE UPDATE ON frazil_segments FOR EACH ROW WHEN (NEW.tag = 't1800') EXECUTE FUNCTION keep()`);
  const segment = new Segment(new PostgresStore(pool), { tag: "t1800" });
  await assert.rejects(
    segment.next(),
    told({
      code: "SEGMENT_EXHAUSTED",
      message: /was not replaced, 8 times, although no one changed it.*trigger/,
    }),
  );
  segment.close();
});

test("close() with a request under way keeps the connection of the pool", async () => {
  const own = poolTo(server.url, { max: 1 });
  let connections = 0;
  own.on("connect", () => connections++);
  for (let round = 0; round < 20; round++) {
    const segment = new Segment(new PostgresStore(own), { tag: "t1700", step: 10, maxStep: 10 });
    await segment.next();
    // The next range is asked for, and nobody wants it.
    segment.tryNext();
    while (own.idleCount > 0) await new Promise(setImmediate);
    segment.close();
  }
  assert.ok((await new PostgresStore(own).allocate(allocation({ tag: "t1700" }))).first > 1n);
  assert.equal(connections, 1);
  await own.end();
});
