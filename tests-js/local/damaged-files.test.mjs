// State files that are damaged or replaced: an error with a code names the file, and no ID is ever repeated.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { Snowflake } from "frazil";
import { repeats } from "../generator/broken-generators.mjs";
import { start, until, withMounts, writtenIds } from "./child-process.mjs";
import { assertCorrupt, increasing, newStateFile, timestampOf } from "./new-state-files.mjs";
import { COPY_OFFSET, ceilingOf, copyBlock, flip, HEADER, LENGTH, MAPPED_AT, RECORDS } from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

describe("a damaged file", () => {
  const blocks = { "the header": HEADER, "the even record": RECORDS[0], "the odd record": RECORDS[1] };
  // Bytes of the magic number, a record number, the ceiling, the zeros, and the checksum.
  const bytes = [0, 9, 17, 300, 511];

  for (const [name, at] of Object.entries(blocks)) {
    for (const [copy, from] of [
      ["first", at],
      ["second", at + COPY_OFFSET],
    ]) {
      // docs/internals/claims.md: 11
      test(`is used if one byte of the ${copy} copy of ${name} is wrong`, () => {
        for (const byte of bytes) {
          const { dir, path, issued } = newStateFile();
          flip(path, from + byte);
          const ids = Snowflake.local({ dir });
          issued.push(ids.next());
          ids.close();
          assert.ok(increasing(issued));
        }
      });
    }

    // docs/internals/claims.md: 11
    test(`is refused, and not changed, if both copies of ${name} are damaged`, async () => {
      for (const byte of bytes) {
        const { path } = newStateFile();
        flip(path, at + byte);
        flip(path, at + COPY_OFFSET + bytes[0]);
        await assertCorrupt(path, at === HEADER ? /damaged header/ : /damaged record/);
      }
    });
  }

  test("is used if every first copy is damaged", () => {
    const { dir, path, issued } = newStateFile();
    for (const at of Object.values(blocks)) flip(path, at);
    const ids = Snowflake.local({ dir });
    issued.push(ids.next());
    ids.close();
    assert.ok(increasing(issued));
    assert.equal(ceilingOf(path), timestampOf(issued.at(-1)) + 1);
  });

  test("is refused if the two copies of the header differ", async () => {
    const [one, other] = [newStateFile(), newStateFile()];
    copyBlock(other.path, HEADER, one.path, HEADER + COPY_OFFSET);
    await assertCorrupt(one.path, /damaged header/);
  });

  test("is refused if a block lies at the offset of another", async () => {
    const { path } = newStateFile();
    for (const to of [HEADER, HEADER + COPY_OFFSET]) copyBlock(path, RECORDS[0], path, to);
    await assertCorrupt(path, /damaged header/);
  });

  for (const length of [0, 1, 512, MAPPED_AT, LENGTH - 1, LENGTH + 1, 2 * LENGTH]) {
    test(`is refused if it has ${length} bytes`, async () => {
      const { path } = newStateFile();
      truncateSync(path, length);
      await assertCorrupt(path, /another length/);
    });
  }

  const elsewhere = 'Object.defineProperty(process, "versions", { value: { ...process.versions, v8: "0" } })';
  const users = {
    "takes blocks": { burst: 20 },
    "takes one ID each millisecond, by the line": { burst: 1 },
    "takes one ID each millisecond, in an engine without the line": {
      burst: 1,
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(elsewhere)}` },
    },
  };
  for (const [how, { burst, env }] of Object.entries(users)) {
    // docs/internals/claims.md: 34
    test(`that is truncated while a process ${how} ends that process, and repeats no ID`, async (t) => {
      const dir = tempDir();
      const file = join(dir, "ids");
      const child = await start(t, { env });
      const { path } = await child.call("open", { dir });
      await child.mint({ file, burst });
      await until(async () => (await child.call("minted")).issued > 100);
      truncateSync(path, MAPPED_AT);
      const { signal } = await child.exited;
      assert.equal(signal, "SIGBUS");
      const issued = writtenIds(file);
      assert.ok(issued.length > 0);
      assert.equal(repeats(issued), 0);
      await assertCorrupt(path, /another length/);
    });
  }
});

describe("another file in place of the state file", () => {
  const inPlace = {
    "a directory": (path) => mkdirSync(path),
    "a FIFO": (path) => execFileSync("mkfifo", [path]),
    "a link to a state file": (path) => symlinkSync(newStateFile().path, path),
    "a link to nothing": (path) => symlinkSync("nowhere", path),
  };
  for (const [name, make] of Object.entries(inPlace)) {
    test(`is refused: ${name}`, async () => {
      const { path } = newStateFile();
      unlinkSync(path);
      make(path);
      await assertCorrupt(path, /is no plain file/);
    });
  }

  test("is no obstacle if a crash left it half created, not even in a container, where process ids are reused", {
    ...withMounts,
  }, async (t) => {
    const dir = tempDir();
    const name = basename(newStateFile().path);
    for (const id of [1, 2]) writeFileSync(join(dir, `.${name}.${id}`), "");
    const child = await start(t, { asPid1: true });
    const { path } = await child.call("open", { dir });
    assert.equal(basename(path), name);
    await child.call("next", 1);
  });

  for (const [what, one, other] of [
    ["layout", {}, { layout: "twitter" }],
    ["node id", {}, { node: 1 }],
    ["scope", {}, { scope: "orders" }],
  ]) {
    // docs/internals/claims.md: 16
    test(`is refused if it belongs to another ${what}, and so is the state file in place of that one`, async () => {
      const dir = tempDir();
      const [{ path }, { path: otherPath }] = [newStateFile({ dir, ...one }), newStateFile({ dir, ...other })];
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      const pattern = new RegExp(`belongs to another ${what}`);
      await assertCorrupt(path, pattern, undefined, one);
      await assertCorrupt(otherPath, pattern, undefined, other);
      // Moved back, both are accepted.
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      for (const options of [one, other]) Snowflake.local({ dir, ...options }).close();
    });
  }

  test("is refused if it is a hard link to the file of another node", async () => {
    const dir = tempDir();
    const [{ path }, { path: otherPath }] = [newStateFile({ dir }), newStateFile({ dir, node: 1 })];
    unlinkSync(otherPath);
    linkSync(path, otherPath);
    await assertCorrupt(otherPath, /belongs to another node id/, undefined, { node: 1 });
  });

  // docs/internals/claims.md: 16
  test("is refused if it is a copy, in the same directory or in another", async () => {
    const { path } = newStateFile();
    const copy = join(tempDir(), basename(path));
    copyFileSync(path, copy);
    await assertCorrupt(copy, /is a copy/);
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await assertCorrupt(path, /is a copy/);
  });

  test("is accepted if it is the state file itself, moved with its directory or alone", () => {
    const { dir, path, issued } = newStateFile();
    const moved = `${dir}.moved`;
    renameSync(dir, moved);
    const ids = Snowflake.local({ dir: moved });
    issued.push(ids.next());
    ids.close();
    const elsewhere = tempDir();
    renameSync(join(moved, basename(path)), join(elsewhere, basename(path)));
    const again = Snowflake.local({ dir: elsewhere });
    issued.push(again.next());
    again.close();
    assert.ok(increasing(issued));
  });
});
