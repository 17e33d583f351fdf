// What goes wrong with SQLite, on real files. sqlite.test.mjs runs this in a Node that has node:sqlite.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LeaseError } from "frazil";
import { SqliteStore } from "frazil/stores/sqlite";
import { told } from "../../base/rule-texts.mjs";
import { attempt, checkPrintedFence, checkSetUp } from "../kit/attempts.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-sqlite-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = () => join(folder, `${++files}.db`);

/** A new file with the scope "s", and its store. */
async function opened({ path = newPath(), pragmas = "", nodes = { from: 0, to: 3 } } = {}) {
  const db = new DatabaseSync(path);
  db.exec(pragmas);
  const store = new SqliteStore(db);
  await store.migrate();
  await store.init({ scope: "s", layout: "default", nodes });
  return { db, path, store };
}

for (const [pragmas, level] of [
  ["PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", 2],
  ["PRAGMA synchronous = OFF", 2],
  ["PRAGMA synchronous = EXTRA", 3],
]) {
  test(`${pragmas}: commits are on disk, with level ${level}`, async () => {
    const { db, store } = await opened({ pragmas });
    assert.ok((await store.acquire(attempt())).granted);
    assert.equal(db.prepare("PRAGMA synchronous").get().synchronous, level);
    // Lowered again by the program, on the same connection.
    db.exec("PRAGMA synchronous = OFF");
    assert.ok((await store.acquire(attempt())).granted);
    assert.equal(db.prepare("PRAGMA synchronous").get().synchronous, 2);
    db.close();
  });
}

test("a copied file is another incarnation, and fenced; the original is not", async () => {
  const { db, path, store } = await opened({ pragmas: "PRAGMA journal_mode = WAL" });
  const lease = await store.acquire(attempt());
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  copyFileSync(path, `${path}.copy`);
  const copy = new DatabaseSync(`${path}.copy`);
  const other = new SqliteStore(copy);
  const refused = await other.acquire(attempt());
  assert.deepEqual([refused.granted, refused.reason], [false, "incarnation"]);
  await other.ensure({ scope: "s", behind: false });
  const fenced = await other.acquire(attempt());
  assert.equal(fenced.reason, "fenced");
  assert.ok(fenced.freeAtMs >= lease.untilMs + 4000, "the fence does not cover the windows of the original");
  assert.ok((await store.acquire(attempt())).granted);
  copy.close();
  db.close();
});

test("the incarnation has the time of birth in milliseconds, which every runtime reports", async () => {
  const { db, path } = await opened();
  const { incarnation } = db.prepare("SELECT incarnation FROM frazil_scopes").get();
  const { dev, ino, birthtimeMs } = statSync(path);
  assert.equal(incarnation, `${dev}/${ino}/${Math.floor(birthtimeMs)}`);
  db.close();
});

test("writes do not change the incarnation, nor does VACUUM", async () => {
  const { db, store } = await opened();
  for (const sql of ["VACUUM", "CREATE TABLE other (a)", "PRAGMA journal_mode = WAL", "VACUUM"]) {
    db.exec(sql);
    assert.ok((await store.acquire(attempt())).granted, sql);
  }
  db.close();
});

test("a file that is replaced or removed while it is open is refused", async () => {
  const { db, path, store } = await opened();
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  await assert.rejects(
    store.acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /replaced while it was open/ }),
  );
  unlinkSync(path);
  await assert.rejects(store.acquire(attempt()), told({ code: "STORE_REFUSED", message: /cannot be looked at/ }));
  db.close();
});

// docs/internals/claims.md: 27. Two processes that have two files under one path would grant the same node ids.
test("a file that is replaced between the opening of the connection and the first operation is refused", async () => {
  const { db, path } = await opened({ pragmas: "PRAGMA journal_mode = WAL" });
  db.close();
  const early = new DatabaseSync(path);
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  const refused = told({ code: "STORE_REFUSED", message: /replaced while it was open/ });
  await assert.rejects(new SqliteStore(early).acquire(attempt()), refused);
  early.close();
  const anew = new DatabaseSync(path);
  assert.equal((await new SqliteStore(anew).acquire(attempt())).reason, "incarnation");
  anew.close();
});

test("a file that another connection has locked is waited for, then STORE_UNAVAILABLE", async () => {
  const { db, path, store } = await opened();
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  setTimeout(() => other.exec("COMMIT"), 300);
  assert.ok((await store.acquire(attempt())).granted, "it was free after 300 ms");
  other.exec("BEGIN IMMEDIATE");
  await assert.rejects(store.acquire(attempt()), (error) => {
    assert.ok(error instanceof LeaseError);
    assert.equal(error.code, "STORE_UNAVAILABLE");
    assert.equal(error.retryable, true);
    assert.match(error.cause.message, /locked/);
    return true;
  });
  const reason = new Error("enough");
  const signal = AbortSignal.timeout(50);
  await assert.rejects(store.acquire(attempt({ signal })), (error) => error === signal.reason);
  await assert.rejects(store.acquire(attempt({ signal: AbortSignal.abort(reason) })), (error) => error === reason);
  other.exec("COMMIT");
  assert.ok((await store.acquire(attempt())).granted);
  other.close();
  db.close();
});

test("four processes at once take each node id once", async () => {
  const { db, path } = await opened({ nodes: { from: 0, to: 99 } });
  db.close();
  const program = `
    import { DatabaseSync } from "node:sqlite";
    import { randomBytes } from "node:crypto";
    import { SqliteStore } from "frazil/stores/sqlite";
    const hex = () => randomBytes(16).toString("hex");
    const store = new SqliteStore(new DatabaseSync(${JSON.stringify(path)}));
    for (let count = 0; count < 25; ) {
      try {
        const { node } = await store.acquire({ ...${JSON.stringify(attempt())}, grant: hex(), nonce: hex() });
        process.stdout.write(node + " ");
        count++;
      } catch (error) {
        // The others may hold the file for longer than a call waits. lease() tries again as well.
        if (error.code !== "STORE_UNAVAILABLE" || !/BUSY/.test(error.message)) throw error;
      }
    }`;
  const outputs = await Promise.all(
    Array.from({ length: 4 }, () => {
      const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "--eval", program], {
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      return new Promise((resolve) => child.once("close", () => resolve(text)));
    }),
  );
  const nodes = outputs.join("").trim().split(" ").map(Number);
  assert.equal(nodes.length, 100);
  assert.equal(new Set(nodes).size, 100);
});

test("a database in memory is refused, and so is a journal in memory", async () => {
  const memory = new SqliteStore(new DatabaseSync(":memory:"));
  await assert.rejects(memory.migrate(), told({ code: "STORE_REFUSED", message: /in memory or temporary/ }));
  const db = new DatabaseSync(newPath());
  db.exec("PRAGMA journal_mode = MEMORY");
  await assert.rejects(
    new SqliteStore(db).migrate(),
    told({ code: "STORE_REFUSED", message: /journal_mode is memory/ }),
  );
  db.close();
  // Set by the program later, on the same connection.
  const later = await opened();
  later.db.exec("PRAGMA journal_mode = MEMORY");
  await assert.rejects(
    later.store.acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /journal_mode is memory/ }),
  );
  later.db.exec("PRAGMA journal_mode = DELETE");
  assert.ok((await later.store.acquire(attempt())).granted);
  later.db.close();
});

test("a locked file: the event loop goes on, whatever busy_timeout the connection has, and that stays", async () => {
  const { db, path, store } = await opened({ pragmas: "PRAGMA busy_timeout = 5000" });
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 20);
  await assert.rejects(store.acquire(attempt()), { code: "STORE_UNAVAILABLE" });
  clearInterval(ticking);
  assert.ok(ticks > 5, `${ticks} timers ran while the store waited for the lock`);
  assert.equal(db.prepare("PRAGMA busy_timeout").get().timeout, 5000);
  other.exec("COMMIT");
  assert.ok((await store.acquire(attempt())).granted);
  assert.equal(db.prepare("PRAGMA busy_timeout").get().timeout, 5000);
  other.close();
  db.close();
});

test("a refusal inside a transaction of the program leaves the file to other connections", async () => {
  const { db, path, store } = await opened();
  const other = new DatabaseSync(path);
  db.exec("BEGIN");
  await assert.rejects(
    store.acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /inside a transaction of yours/ }),
  );
  assert.ok((await new SqliteStore(other).acquire(attempt())).granted);
  db.exec("COMMIT");
  other.close();
  db.close();
});

test("a connection inside a transaction of the program is refused, and the transaction is left alone", async () => {
  const { db, store } = await opened();
  db.exec("CREATE TABLE mine (a); BEGIN; INSERT INTO mine VALUES (1)");
  await assert.rejects(
    store.acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /inside a transaction of yours/ }),
  );
  db.exec("COMMIT");
  assert.equal(db.prepare("SELECT count(*) AS n FROM mine").get().n, 1);
  assert.ok((await store.acquire(attempt())).granted);
  db.close();
});

test("a read-only connection is refused, and a closed one is unavailable", async () => {
  const { db, path } = await opened();
  const readOnly = new DatabaseSync(path, { readOnly: true });
  await assert.rejects(
    new SqliteStore(readOnly).acquire(attempt()),
    told({ code: "STORE_REFUSED", message: /READONLY/ }),
  );
  readOnly.close();
  db.close();
  const store = new SqliteStore(db);
  await assert.rejects(store.acquire(attempt()), { code: "STORE_UNAVAILABLE" });
});

test("without tables or a record, the error says what to call", async () => {
  const db = new DatabaseSync(newPath());
  const store = new SqliteStore(db);
  await assert.rejects(store.fence(), told({ code: "STORE_NOT_INITIALISED", message: /no tables/ }));
  await checkSetUp(store, () => db.exec("DELETE FROM frazil_scopes"));
  db.close();
});

const cli = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));
const printed = (...args) => execFileSync(process.execPath, [cli, ...args], { encoding: "utf8" });

test("npx frazil ddl prints what migrate and init do; the first holder sets the file, without a fence", async () => {
  const script = printed("ddl", "sqlite", "--scope", "s", "--nodes", "7-8");
  const path = newPath();
  const one = new DatabaseSync(path);
  one.exec(script);
  assert.throws(() => one.exec(script), /UNIQUE/);
  const store = new SqliteStore(one);
  await store.migrate();
  assert.equal((await store.acquire(attempt())).reason, "incarnation");
  await store.ensure({ scope: "s", behind: false });
  assert.equal((await store.acquire(attempt())).node, 7);
  // From now on a copy is another file.
  copyFileSync(path, `${path}.copy`);
  const copy = new SqliteStore(new DatabaseSync(`${path}.copy`));
  await copy.ensure({ scope: "s", behind: false });
  assert.equal((await copy.acquire(attempt())).reason, "fenced");
  one.close();
});

test("npx frazil fence prints what raises the fence of a scope", async () => {
  const { db, store } = await opened();
  const print = (scope) => printed("fence", "sqlite", "--scope", scope);
  await checkPrintedFence(store, print, (text) => db.exec(text));
  const missing = await print("nowhere");
  assert.throws(() => db.exec(missing), /this database has no scope "nowhere"/);
  db.close();
});

// SQLite 3.31 runs a function whose arguments are all constant before the first row, also where WHERE leaves none: that would fail for
// every scope.
test("what npx frazil fence prints calls json_extract with an argument that a row decides", async () => {
  const { db } = await opened();
  /** Which arguments are constant: a bit of `p1` for each. */
  const constantOf = (statement) => {
    const calls = db.prepare(`EXPLAIN ${statement}`).all();
    return calls.filter(({ p4 }) => /^json_extract/.test(p4)).map(({ p1 }) => p1);
  };
  const [statement] = /^SELECT json_extract[^;]*/m.exec(printed("fence", "sqlite", "--scope", "s"));
  assert.deepEqual(constantOf(statement), [0b01]);
  const alike =
    "SELECT json_extract('{}', 'no scope') WHERE NOT EXISTS (SELECT 1 FROM frazil_scopes WHERE scope = 's')";
  assert.deepEqual(constantOf(alike), [0b11], "the mutant shows nothing");
  db.close();
});

test("fence() holds acquisitions back", async () => {
  const { db, store } = await opened();
  const fenceMs = await store.fence({ scope: "s" });
  const refused = await store.acquire(attempt());
  assert.deepEqual([refused.reason, refused.freeAtMs], ["fenced", fenceMs]);
  assert.ok((await store.fence({ scope: "s" })) >= fenceMs);
  db.close();
});

test("what is no connection is refused", () => {
  for (const database of [undefined, null, "leases.db", {}, { query() {} }])
    assert.throws(() => new SqliteStore(database), { code: "INVALID_ARGUMENT", field: "database" });
});
