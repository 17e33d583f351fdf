// The state file of a minting process is removed, replaced or overwritten: what is detected, and that no ID is ever repeated.
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { errorOf } from "../base/bad-input.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { idsOfTwoFiles, start, until, writtenIds } from "./child-process.mjs";
import { assertCorrupt, concurrency } from "./new-state-files.mjs";
import { MAPPED_OFFSETS } from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

describe("a file of a process that mints", { concurrency }, () => {
  const away = {
    "is deleted": (path) => unlinkSync(path),
    "is renamed": (path) => renameSync(path, `${path}.old`),
    "is replaced by a copy of itself": (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    "is deleted with its directory": (path) => rmSync(dirname(path), { recursive: true }),
    "is deleted with three directories": (path) => rmSync(join(path, "../../.."), { recursive: true }),
    "is deleted with its directory, which is created again": (path) => {
      rmSync(dirname(path), { recursive: true });
      mkdirSync(dirname(path));
    },
    "is moved away with its directory, which is created again": (path) => {
      renameSync(dirname(path), `${dirname(path)}.old`);
      mkdirSync(dirname(path));
    },
    "is deleted with three directories, which are created again": (path) => {
      rmSync(join(path, "../../.."), { recursive: true });
      mkdirSync(dirname(path), { recursive: true });
    },
    "is moved away with five directories, which are created again": (path) => {
      renameSync(join(path, "../../../../.."), `${join(path, "../../../../..")}.old`);
      mkdirSync(dirname(path), { recursive: true });
    },
  };
  for (const [name, take] of Object.entries(away)) {
    // docs/internals/claims.md: 16, 18
    test(`that ${name} ends the minting of that process for good, and no ID is repeated`, async (t) => {
      const [dir, out] = [join(tempDir(), "d/e/f"), tempDir()];
      const [before, after] = [join(out, "before"), join(out, "after")];
      const [old, young] = await Promise.all([start(t), start(t)]);
      const { path } = await old.call("open", { dir });
      await old.mint({ file: before });
      take(path);
      if (existsSync(path)) await assertCorrupt(path, /is a copy/);
      else {
        await young.call("open", { dir });
        await young.mint({ file: after });
      }
      await old.untilRefused("STATE_FILE_CORRUPT");
      const { issued, message } = await old.call("minted");
      assert.ok(message.includes(`${path} was deleted or replaced while it was in use`), message);
      const { refusal } = await old.call("health");
      assert.equal(refusal.code, "STATE_FILE_CORRUPT");
      // The process on the new file mints for a while; so would the old process if it were not refused.
      if (existsSync(after)) {
        const some = writtenIds(after).length;
        await until(() => writtenIds(after).length > some + 1000);
      }
      const now = await old.call("minted");
      assert.deepEqual([now.issued, Object.keys(now.codes)], [issued, ["STATE_FILE_CORRUPT"]]);
      const ids = [...writtenIds(before), ...(existsSync(after) ? writtenIds(after) : [])];
      assert.equal(repeats(ids), 0);
      if (existsSync(path) && existsSync(after)) {
        // If the refused process opens the file again, it attaches to the file that is there now.
        await old.call("stop");
        assert.equal((await old.call("open", { dir })).attached, 2);
        assert.equal(repeats([...ids, ...(await old.call("next", 100))]), 0);
      }
    });
  }

  const fileOf = async (t, options) => {
    const child = await start(t);
    const { path } = await child.call("open", { ...options, startWaitMs: 60_000 });
    await child.call("close");
    return readFileSync(path);
  };
  for (const [name, contents, opening] of [
    ["letters", (path) => "x".repeat(statSync(path).size), /has a damaged header/],
    ["zeros", (path) => "\0".repeat(statSync(path).size), /has a damaged header/],
    ["an older copy of itself", (path) => readFileSync(path)],
    ["the file of another node id", (_, t) => fileOf(t, { dir: tempDir(), node: 5 }), /belongs to another node id/],
  ]) {
    test(`that is overwritten with ${name} ends the minting of that process for good`, async (t) => {
      const dir = tempDir();
      const [child, second] = await Promise.all([start(t), start(t)]);
      const { path } = await child.call("open", { dir, startWaitMs: 60_000 });
      await second.call("open", { dir });
      await child.call("next", 100);
      const other = await contents(path, t);
      // Until what an older copy still allows is over.
      const { ceilingMs } = (await child.call("health")).file;
      await until(async () => {
        await child.call("next", 1);
        return Date.now() > ceilingMs;
      });
      // In place, as `cp` and `rsync --inplace` do.
      writeFileSync(path, other, { flag: "r+" });
      // Also the one that has never raised the ceiling.
      for (const each of [child, second]) {
        await each.call("mint", { file: join(tempDir(), "ids") });
        await each.untilRefused("STATE_FILE_CORRUPT");
        const { message, issued } = await each.call("minted");
        assert.ok(message.includes(`${path} was overwritten while it was in use`), message);
        assert.equal(issued, 0);
        assert.equal((await each.call("health")).refusal.code, "STATE_FILE_CORRUPT");
      }
      if (opening) await assertCorrupt(path, opening);
    });
  }

  test("that is overwritten with contents whose window ends late mints nothing more once that is noticed", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.call("next", 100);
    const other = readFileSync(path);
    other.writeBigUInt64LE(BigInt(Date.now() + 600_000), MAPPED_OFFSETS.windowEnd);
    // Until there is a newer record.
    const { ceilingMs } = (await child.call("health")).file;
    await until(async () => {
      await child.call("next", 1);
      return (await child.call("health")).file.ceilingMs > ceilingMs;
    });
    writeFileSync(path, other, { flag: "r+" });
    const refusal = () => errorOf(() => child.call("next", 1));
    await until(refusal);
    assert.equal((await refusal())?.code, "STATE_FILE_CORRUPT");
    assert.equal((await child.call("health")).refusal.code, "STATE_FILE_CORRUPT");
  });

  test("that is overwritten with what it was while it was closed is told as that, and not as a generator that was closed", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.call("next", 100);
    await child.call("close");
    const backup = readFileSync(path);
    await child.call("open", { dir });
    await child.call("next", 100);
    writeFileSync(path, backup, { flag: "r+" });
    const refusal = () => errorOf(() => child.call("next", 1));
    // The first refusal, whether a thread has looked at the file by then or not.
    assert.equal((await until(refusal)).code, "STATE_FILE_CORRUPT");
  });

  test("that is overwritten with the file of another node id and another start of the sequence is told as that too", async (t) => {
    const other = await fileOf(t, { dir: tempDir(), node: 5, sequenceStart: "random" });
    const child = await start(t);
    const { path } = await child.call("open", { dir: tempDir() });
    await child.call("next", 100);
    writeFileSync(path, other, { flag: "r+" });
    assert.equal((await until(() => errorOf(() => child.call("next", 1)))).code, "STATE_FILE_CORRUPT");
  });

  test("that is one of two: the checker catches the repeats", async (t) => {
    assert.equal(repeats(await idsOfTwoFiles(await start(t), await start(t))), 1000);
  });
});
