// The specifics of D1: its set-up, lost races, errors, and Time Travel; and wrong bindings.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { D1Store } from "frazil/stores/d1";
import { SqliteStore } from "frazil/stores/sqlite";
import { Bench, scenarios } from "frazil/testing/lease-contract";
import { told, wholeText } from "../../base/rule-texts.mjs";
import {
  attempt,
  checkNodeWidths,
  checkPrintedFence,
  checkSetUp,
  newScopeOf,
  overlaps,
  renewalOf,
} from "../kit/attempts.mjs";
import { checkTags } from "../kit/page.mjs";
import { allocation, caught, checkBlindReplace, checkLostRace, initIn, newTag, OVERLAPS } from "../kit/segments.mjs";
import { open } from "./database.mjs";

let opened;
let server;
let store;
before(async () => {
  opened = await open();
  ({ server, store } = opened);
});
after(() => opened.close());

/** A store in this process whose statements go through `change`, and wait for `hold()` if they write what `held` names. */
function storeWith({ change = (sql) => sql, held = /^$/, hold } = {}) {
  const database = server.database("D1");
  return new D1Store({
    prepare: (sql) => database.prepare(change(sql)),
    async batch(statements) {
      if (statements.some(({ sql }) => held.test(sql))) await hold();
      return database.batch(statements);
    },
  });
}

test("a database without tables, and without a record", async () => {
  const fresh = new D1Store(server.database("D1_NEW"));
  await assert.rejects(
    fresh.initSegment({ tag: "orders" }),
    told({
      code: "STORE_NOT_INITIALISED",
      message:
        /npx frazil ddl d1 --tag orders > frazil\.sql && npx wrangler d1 execute .* await store\.migrate\(\); await store\.initSegment/,
    }),
  );
  await checkSetUp(fresh, () => server.sql("D1_NEW", "DELETE FROM frazil_scopes WHERE scope = 'default'"));
});

test("a table without a column is refused with what to do, and can be made anew as the page says", async () => {
  const other = new D1Store(server.database("D1_NEW"));
  const sql = (text) => server.sql("D1_NEW", text);
  const TABLES = ["frazil_scopes", "frazil_leases", "frazil_segments"];
  for (const table of TABLES) await sql(`DROP TABLE IF EXISTS ${table}`);
  await other.migrate();
  await other.init({ layout: "default" });
  await other.initSegment({ tag: "orders" });
  const held = await other.acquire(attempt({ scope: "default" }));
  assert.equal(held.granted, true);
  await sql("ALTER TABLE frazil_scopes DROP COLUMN next_node");
  await sql("ALTER TABLE frazil_segments DROP COLUMN recent");

  await other.migrate();
  const advice = /not as migrate\(\) makes it, .*\. Compare it with the SQL of npx frazil ddl d1\.$/;
  for (const call of [
    () => other.acquire(attempt({ scope: "default" })),
    () => other.init({ layout: "default" }),
    () => other.fence(),
    () => other.initSegment({ tag: "more" }),
    () => other.allocate(allocation({ tag: "orders" })),
  ]) {
    const error = await call().then(assert.fail, (reason) => reason);
    assert.deepEqual([error.code, advice.test(wholeText(error))], ["STORE_REFUSED", true], error.message);
    assert.match(wholeText(error), /no such column: |has no column named /);
  }

  for (const table of TABLES) await sql(`ALTER TABLE ${table} RENAME TO ${table.replace("frazil", "old")}`);
  await sql("DROP INDEX frazil_leases_grant");
  await other.migrate();
  await other.init({ layout: "default" });
  await other.fence();
  const refused = await other.acquire(attempt({ scope: "default" }));
  assert.deepEqual([refused.granted, refused.reason], [false, "fenced"], JSON.stringify(refused));
  assert.equal(await other.initSegment({ tag: "orders", first: 5_000_000n }), true);
  const indexes = await sql("SELECT tbl_name FROM sqlite_master WHERE name = 'frazil_leases_grant'");
  assert.match(JSON.stringify(indexes), /frazil_leases/);
});

test("layouts with wide and without node fields", async () => {
  const request = await checkNodeWidths(store);
  assert.equal((await store.acquire(request(1024))).node, 1024, "a preferred node id that can be reached");
});

// docs/internals/claims.md: 22
test("of two that saw one free row, the one that writes second takes another", async () => {
  const scope = await newScopeOf(store, { nodes: { from: 0, to: 1 } });
  await store.acquire(attempt({ scope }));
  const leases = [];
  let writes = 0;
  const slow = storeWith({
    held: /^UPDATE frazil_leases/,
    async hold() {
      if (++writes === 1) leases.push(await store.acquire(attempt({ scope, windowMs: 1000 })));
    },
  });
  const answer = await slow.acquire(attempt({ scope }));
  assert.deepEqual([answer.granted, answer.reason, leases[0].node], [false, "exhausted", 1]);
});

/** Requests that all have read before one of them writes. Each time one of them writes, another holder may come first. */
function besideEachOther({ requests, change, first = async () => {} }) {
  let read = 0;
  let go;
  const all = new Promise((resolve) => {
    go = resolve;
  });
  const slow = storeWith({
    change,
    held: /^UPDATE frazil_leases/,
    async hold() {
      read++;
      if (read === requests.length) await first().then(go);
      if (read <= requests.length) await all;
    },
  });
  return Promise.all(requests.map((request) => slow.acquire(request)));
}

// docs/internals/claims.md: 22
test("two requests for one grant that read the same rows have one node id, and no error", async () => {
  const raced = async (change) => {
    const scope = await newScopeOf(store, { nodes: { from: 0, to: 31 } });
    const { grant } = await store.acquire(attempt({ scope }));
    const request = attempt({ scope });
    const first = async () => {
      await store.acquire(attempt({ scope }));
    };
    const answers = await besideEachOther({ requests: [request, request], change, first });
    assert.equal(new Set(answers.map(({ node }) => node)).size, 1);
    assert.notEqual(answers[0].grant, grant);
    const [{ rows }] = await server.sql(
      "D1",
      `SELECT count(*) AS rows FROM frazil_leases WHERE scope = '${scope}' AND grant_id IS NOT NULL`,
    );
    assert.equal(Number(rows), 3, "a row is held that nobody has");
  };
  for (let round = 0; round < 8; round++) await raced();
  const blind = (sql) => sql.replace("AND l.grant_id = ?", "AND l.grant_id IS NULL AND ? IS NULL");
  await assert.rejects(raced(blind), told({ code: "STORE_REFUSED", message: /UNIQUE/ }));
});

test("which row a holder takes after a lost race follows from its grant", async () => {
  const taken = async (grant) => {
    const scope = await newScopeOf(store, { nodes: { from: 0, to: 15 } });
    const first = async () => {
      await store.acquire(attempt({ scope }));
    };
    const [answer] = await besideEachOther({ requests: [attempt({ scope, grant })], first });
    return answer.node;
  };
  const nodes = [];
  for (let count = 0; count < 8; count++) {
    const { grant } = attempt();
    const node = await taken(grant);
    assert.equal(await taken(grant), node);
    nodes.push(node);
  }
  assert.ok(new Set(nodes).size > 2, `all draw the same: ${nodes}`);
});

// docs/internals/claims.md: 25
test("a fence that is raised between reading and writing holds the grant back", async () => {
  const raced = async (change) => {
    const scope = await newScopeOf(store);
    let writes = 0;
    const hold = async () => {
      if (++writes === 1) await store.fence({ scope });
    };
    return storeWith({ change, held: /^UPDATE frazil_leases/, hold }).acquire(attempt({ scope }));
  };
  assert.equal((await raced()).reason, "fenced");
  const blind = (sql) => sql.replace("scope = ? AND fence_ms = ? AND", "(? IS NULL OR ? IS NOT NULL) AND");
  assert.equal((await raced(blind)).granted, true, "the mutant shows nothing");
});

// docs/internals/claims.md: 28
test("of two that replace the record of a tag, the second one reads again", () =>
  checkLostRace(store, (hold) => storeWith({ held: /^UPDATE frazil_segments/, hold })));

test("a store that replaces the record whatever it is hands out numbers twice", () =>
  checkBlindReplace(store, (hold) =>
    storeWith({
      change: (sql) =>
        sql.replace(
          "AND next_number = CAST(? AS INTEGER) AND incarnation = ? AND recent = ?",
          "AND ? IS NOT NULL AND incarnation = ? AND ? IS NOT NULL",
        ),
      held: /^UPDATE frazil_segments/,
      hold,
    }),
  ));

const CAUGHT = {
  "a row is written whatever it is": "64 clients take 1,024 node ids, each once",
  "the fence is lost": "a fence holds acquisitions back, and windows begin behind it",
  "the nonce of a renewal is not written": "a retried renewal is accepted",
};
for (const [defect, name] of Object.entries(CAUGHT)) {
  test(`${defect}: "${name}" catches it`, async () => {
    const { store, init, close } = await open({ defect });
    try {
      const { run } = scenarios.find((scenario) => scenario.name === name);
      await assert.rejects(() => run(new Bench({ store, init })), { name: "AssertionError" });
    } finally {
      await close();
    }
  });
}

test(`the record of a tag is written whatever it is: "${OVERLAPS}" catches it`, async () => {
  const { store, close } = await open({ defect: "a record of a tag is written whatever it is" });
  try {
    await caught(OVERLAPS, { store, init: initIn(store) });
  } finally {
    await close();
  }
});

test("errors of D1 are coded, and their cause is D1's", async () => {
  const broken = storeWith({ change: (sql) => sql.replace("SELECT layout,", "SELECT layouts,") });
  await assert.rejects(broken.acquire(attempt()), (error) => {
    assert.equal(error.code, "STORE_REFUSED");
    assert.match(wholeText(error), /D1 answered D1_ERROR: no such column: layouts/);
    assert.ok(error.cause);
    return true;
  });
  await server.kill();
  try {
    await assert.rejects(storeWith().acquire(attempt()), { code: "STORE_UNAVAILABLE", retryable: true });
  } finally {
    await server.start();
  }
});

test("Time Travel is not visible: fence() holds back until every window that was lost is over", async () => {
  const scope = await newScopeOf(store);
  const tag = newTag();
  await store.initSegment({ tag });
  const { first } = await store.allocate(allocation({ tag }));
  const restore = await server.keepDisk();
  const lost = await store.acquire(attempt({ scope }));
  const range = await store.allocate(allocation({ tag }));
  await restore();
  assert.equal(overlaps([lost, await store.acquire(attempt({ scope }))]), 1, "the restore is noticed: change the page");
  assert.deepEqual(
    [first, (await store.allocate(allocation({ tag }))).first],
    [1n, range.first],
    "the same for numbers",
  );
  const behind = await store.renew(renewalOf({ ...lost, untilMs: lost.untilMs + 3_600_000 }, { scope }));
  assert.equal(behind.reason, "behind", "a holder that knows more than the database notices");
  assert.ok((await store.fence({ scope })) >= lost.untilMs);
  assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
});

const cli = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));
const printedBy = (...args) => execFileSync(process.execPath, [cli, ...args], { encoding: "utf8" });
const run = (printed) =>
  server.sql("D1", ...printed.split(/;\n/).filter((statement) => /^(?!--).*\S/m.test(statement)));

test("npx frazil ddl d1 prints statements that make the tables and the record of a scope, or of tags", async () => {
  await run(printedBy("ddl", "d1", "--scope", "printed", "--nodes", "3-9"));
  const { node, granted } = await store.acquire(attempt({ scope: "printed" }));
  assert.deepEqual([granted, node], [true, 3]);
  await checkTags("d1", store, run);
});

test("npx frazil fence d1 prints statements that raise the fence of a scope, and fail where there is none", async () => {
  const print = (scope) => printedBy("fence", "d1", "--scope", scope);
  await checkPrintedFence(store, print, run);
  await assert.rejects(run(await print("nowhere")), /this database has no scope "nowhere"/);
});

test("what is no database, and a session of one, are refused", async () => {
  for (const given of [undefined, null, {}, "DB", { prepare() {} }])
    assert.throws(() => new D1Store(given), told({ code: "INVALID_ARGUMENT", message: /"d1_databases"/ }));
  assert.throws(
    () => new D1Store({ idFromName() {}, get() {} }),
    told({ code: "INVALID_ARGUMENT", message: /DurableObjectStore of frazil\/workers takes it/ }),
  );
  assert.throws(
    () => new SqliteStore({ prepare() {}, batch() {}, exec() {} }),
    told({ code: "INVALID_ARGUMENT", message: /D1Store of frazil\/stores\/d1 takes it/ }),
  );
  await assert.rejects(server.call("session"), told({ code: "INVALID_ARGUMENT", message: /withSession/ }));
  assert.equal(await server.call("identity", { binding: "D1" }), true);
});
