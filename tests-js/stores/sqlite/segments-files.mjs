// What can go wrong with segments in SQLite, on real files. segments.test.mjs runs this in a Node that has node:sqlite.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Segment } from "frazil/segment";
import { SqliteStore } from "frazil/stores/sqlite";
import { repeatsOf } from "../kit/segment-failover.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-sqlite-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = () => join(folder, `${++files}.db`);

const STEP = 100;
const drawer = (store, failoverSkip) => new Segment(store, { tag: "orders", step: STEP, maxStep: STEP, failoverSkip });

/**
 * A process draws numbers, the file is copied, and the process draws more. Then it ends, and the copy takes the place of the file, or of
 * its contents. Returns how many numbers of those that a process on the restored file draws were drawn before.
 */
async function restored({ failoverSkip, pragmas = "", replace = renameSync }) {
  const path = newPath();
  let db = new DatabaseSync(path);
  db.exec(pragmas);
  let store = new SqliteStore(db);
  await store.migrate();
  await store.initSegment({ tag: "orders" });
  let orders = drawer(store, failoverSkip);
  const numbers = await orders.nextMany(150);
  // The online backup of SQLite, or a copy of a file that has no log.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  copyFileSync(path, `${path}.copy`);
  numbers.push(...(await orders.nextMany(400)));
  orders.close();
  db.close();
  await replace(`${path}.copy`, path);
  db = new DatabaseSync(path);
  store = new SqliteStore(db);
  orders = drawer(store, failoverSkip);
  numbers.push(...(await orders.nextMany(600)));
  orders.close();
  db.close();
  return repeatsOf(numbers);
}

for (const pragmas of ["PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL"]) {
  // docs/internals/claims.md: 29
  test(`${pragmas}: a file that a copy replaced repeats no number`, async () => {
    assert.equal(await restored({ pragmas }), 0);
  });

  test(`${pragmas}: with failoverSkip: 0 it does`, async () => {
    assert.ok((await restored({ pragmas, failoverSkip: 0 })) > 0, "the mutant shows nothing");
  });
}

// docs/internals/claims.md: 29
test("a maximum without a step is the longest range from the first one on: what three processes lose is skipped", async () => {
  const path = newPath();
  const opened = [];
  const open = async () => {
    const db = new DatabaseSync(path);
    const orders = new Segment(new SqliteStore(db), { tag: "orders", maxStep: 100 });
    opened.push(db, orders);
    return orders;
  };
  const db = new DatabaseSync(path);
  const store = new SqliteStore(db);
  await store.migrate();
  await store.initSegment({ tag: "orders" });
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  copyFileSync(path, `${path}.copy`);
  const numbers = [];
  for (const orders of [await open(), await open(), await open()]) numbers.push(...(await orders.nextMany(100)));
  for (const one of opened.splice(0)) one.close();
  renameSync(`${path}.copy`, path);
  numbers.push(...(await (await open()).nextMany(3000)));
  for (const one of opened) one.close();
  assert.equal(repeatsOf(numbers), 0);
});

test("a copy that is written into the file itself is the same file, and repeats numbers: docs/reference/stores/sqlite.md says so", async () => {
  assert.ok((await restored({ replace: copyFileSync })) > 0, "it is told: change the page");
});

test("a backup that SQLite restores into the file repeats numbers: docs/reference/stores/sqlite.md says so", async () => {
  const replace = async (from, to) => {
    const source = new DatabaseSync(from);
    await backup(source, to);
    source.close();
  };
  assert.ok((await restored({ replace })) > 0, "it is told: change the page");
});

test("a file that lost its -wal repeats numbers: docs/reference/stores/sqlite.md says so", async () => {
  const path = newPath();
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  const store = new SqliteStore(db);
  await store.migrate();
  await store.initSegment({ tag: "orders" });
  db.close();
  const program = `
    import { DatabaseSync } from "node:sqlite";
    import { Segment } from "frazil/segment";
    import { SqliteStore } from "frazil/stores/sqlite";
    const orders = new Segment(new SqliteStore(new DatabaseSync(${JSON.stringify(path)})), { tag: "orders" });
    process.send((await orders.nextMany(10)).map(String), () => process.kill(process.pid, "SIGKILL"));`;
  const args = ["--no-warnings", "--input-type=module", "--eval", program];
  const draw = async () => {
    const child = spawn(process.execPath, args, {
      cwd: import.meta.dirname,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const closed = once(child, "close");
    const [[numbers]] = await Promise.all([Promise.race([once(child, "message"), closed]), closed]);
    return numbers;
  };
  const numbers = await draw();
  numbers.push(...(await draw()));
  assert.equal(repeatsOf(numbers), 0);
  for (const log of ["-wal", "-shm"]) unlinkSync(path + log);
  assert.ok(repeatsOf([...numbers, ...(await draw())]) > 0, "it is told: change the page");
});

// docs/internals/claims.md: 28
test("four processes at once allocate from eight tags, and no number comes twice", async () => {
  const path = newPath();
  const db = new DatabaseSync(path);
  const store = new SqliteStore(db);
  await store.migrate();
  const tags = Array.from({ length: 8 }, (_, at) => `tag-${at}`);
  for (const tag of tags) await store.initSegment({ tag });
  db.close();
  const program = `
    import { DatabaseSync } from "node:sqlite";
    import { Segment } from "frazil/segment";
    import { SqliteStore } from "frazil/stores/sqlite";
    const store = new SqliteStore(new DatabaseSync(${JSON.stringify(path)}));
    const all = {};
    for (const tag of ${JSON.stringify(tags)}) {
      const segment = new Segment(store, { tag, step: 5, maxStep: 5, maxAsyncWaitMs: 30000 });
      all[tag] = (await segment.nextMany(50)).map(String);
    }
    process.stdout.write(JSON.stringify(all));
    process.exit();`;
  const cwd = fileURLToPath(new URL("./", import.meta.url));
  const said = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const args = ["--no-warnings", "--input-type=module", "--eval", program];
      const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      assert.deepEqual(await once(child, "close"), [0, null]);
      return JSON.parse(text);
    }),
  );
  for (const tag of tags) assert.equal(repeatsOf(said.flatMap((all) => all[tag])), 0);
});
