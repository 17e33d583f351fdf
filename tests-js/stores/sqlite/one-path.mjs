// One SQLite file by two paths, and file systems that keep no time of birth. sqlite.test.mjs runs this in a Node that has node:sqlite.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { SqliteStore } from "frazil/stores/sqlite";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { unshare, withDisks, withMounts } from "../../local/child-process.mjs";
import { mountImage } from "../../local/mounted-image.mjs";
import { attempt } from "../kit/attempts.mjs";
import { repeatsOf } from "../kit/segment-failover.mjs";

const folder = mkdtempSync(join(tmpdir(), "frazil-sqlite-"));
after(() => rmSync(folder, { recursive: true }));

/** A new file, in a folder beside which another folder is. Its name needs escapes in the list of mounts. */
async function newFile(mode, dir = mkdtempSync(join(folder, "on "))) {
  for (const name of ["a", "b"]) mkdirSync(join(dir, name));
  const path = join(dir, "a", "my #1 s.db");
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = ${mode}`);
  const store = new SqliteStore(db);
  await store.migrate();
  await store.init({ scope: "s", layout: "default" });
  await store.initSegment({ tag: "orders" });
  db.close();
  return { path, other: join(dir, "b", "my #1 s.db") };
}

const DRAW = `
  import { DatabaseSync } from "node:sqlite";
  import { Segment } from "frazil/segment";
  import { SqliteStore } from "frazil/stores/sqlite";
  process.on("message", () => {}); // keeps it alive
  const orders = new Segment(new SqliteStore(new DatabaseSync(process.argv[1])), { tag: "orders", step: 10, maxAsyncWaitMs: 500 });
  process.send(await orders.nextMany(10).then((numbers) => ({ numbers }), ({ code, message, hint }) => ({ code, message, hint })));
`;

/** A process that draws ten numbers and keeps the file open until the test ends. `mounts`: commands of a shell that run first. */
async function drawn(t, path, mounts) {
  const node = [process.execPath, "--no-warnings", "--input-type=module", "--eval", DRAW, path];
  const [file, ...args] = mounts ? [...unshare, "sh", "-ec", `${mounts}\nexec "$0" "$@"`, ...node] : node;
  const stdio = ["ignore", "inherit", "inherit", "ipc"];
  const child = spawn(file, args, { cwd: import.meta.dirname, stdio, serialization: "advanced" });
  const closed = once(child, "close");
  t.after(() => {
    child.kill("SIGKILL");
    return closed;
  });
  const [answer] = await Promise.race([once(child, "message"), closed]);
  return answer;
}

/** Mounts the file on the path of the child, as a container gets a single file. */
const bind = ({ path, other }) => {
  writeFileSync(other, "");
  return `mount --bind '${path}' '${other}'`;
};

for (const mode of ["WAL", "DELETE"]) {
  // docs/internals/claims.md: 27, 28
  test(`${mode}: a file that is mounted by itself is refused`, withMounts, async (t) => {
    const file = await newFile(mode);
    const { numbers } = await drawn(t, file.path);
    const { code, ...texts } = await drawn(t, file.other, bind(file));
    assert.equal(code, "STORE_REFUSED");
    assert.match(wholeText(texts), /is mounted by itself\. Mount its folder instead/);
    // By its own path, where the folder is mounted, it goes on.
    const folders = `mount --bind '${join(file.path, "..")}' '${join(file.other, "..")}'`;
    numbers.push(...(await drawn(t, file.other, folders)).numbers);
    assert.equal(repeatsOf(numbers), 0);
  });

  // docs/internals/claims.md: 27, 28
  test(`${mode}: a file with a second link is refused, from then on and by both paths`, async (t) => {
    const { path, other } = await newFile(mode);
    const db = new DatabaseSync(path);
    const store = new SqliteStore(db);
    const refused = told({ code: "STORE_REFUSED", message: /has 2 hard links\. Remove the other links/ });
    assert.ok((await store.acquire(attempt())).granted);
    linkSync(path, other);
    await assert.rejects(store.acquire(attempt()), refused);
    assert.equal((await drawn(t, other)).code, "STORE_REFUSED");
    unlinkSync(other);
    assert.ok((await store.acquire(attempt())).granted);
    db.close();
  });
}

test(
  "a file in WAL mode that is mounted by itself repeats numbers where the mounts cannot be read",
  withMounts,
  async (t) => {
    const file = await newFile("WAL");
    const numbers = [...(await drawn(t, file.path)).numbers];
    const hidden = `${bind(file)}\nmount --bind /dev/null /proc/$$/mountinfo`;
    numbers.push(...((await drawn(t, file.other, hidden)).numbers ?? []));
    assert.ok(repeatsOf(numbers) > 0, "the mutant shows nothing");
  },
);

// docs/internals/claims.md: 27, 29
test(
  "a file system that keeps no time of birth is refused: a backup gets the inode of the file that was removed",
  withDisks,
  async (t) => {
    const { dir } = mountImage(t, "ext4", { options: ["-I", "128"] });
    const path = join(dir, "s.db");
    const db = new DatabaseSync(path);
    await assert.rejects(
      new SqliteStore(db).migrate(),
      told({ code: "STORE_REFUSED", message: /has no time of birth/ }),
    );
    db.exec("CREATE TABLE mine (a)");
    db.close();
    // Why: the cure of docs/reference/stores/sqlite.md for a backup, where the time of birth says nothing.
    const { ino, birthtimeMs } = statSync(path);
    copyFileSync(path, `${folder}/backup.db`);
    rmSync(path);
    copyFileSync(`${folder}/backup.db`, path);
    assert.deepEqual([statSync(path).ino, statSync(path).birthtimeMs], [ino, birthtimeMs], "it is told: accept it");
  },
);

// docs/internals/claims.md: 27, 29
test(
  "where the file system keeps it, a backup in the place of the removed file is another incarnation",
  withDisks,
  async (t) => {
    const { dir } = mountImage(t, "ext4");
    const { path } = await newFile("WAL", dir);
    copyFileSync(path, `${folder}/backup.db`);
    const { ino } = statSync(path);
    rmSync(path);
    copyFileSync(`${folder}/backup.db`, path);
    assert.equal(statSync(path).ino, ino, "the inode is another one, which proves nothing here");
    const db = new DatabaseSync(path);
    assert.equal((await new SqliteStore(db).acquire(attempt())).reason, "incarnation");
    db.close();
  },
);
