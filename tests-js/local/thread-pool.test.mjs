// localAsync() can wait for a file that another process holds. It must not wait in Node's thread pool, whose four threads serve all file
// system calls.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { needsLinux } from "../core/binding/node-process.mjs";
import { pause, start } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

test("four openings that wait delay no file system call of the process", needsLinux, async (t) => {
  const [dir, paused] = [tempDir(), pause()];
  const holder = await start(t, { pause: paused });
  paused.once("read");
  const opening = holder.call("open", { dir });
  await holder.untilStopped();
  const order = [];
  const openings = Array.from({ length: 4 }, () =>
    Snowflake.localAsync({ dir }).then(
      (ids) => order.push("opened") && ids.close(),
      () => order.push("refused"),
    ),
  );
  const reading = readFile(new URL(import.meta.url)).then(() => order.push("read"));
  await Promise.race([reading, ...openings]);
  assert.equal(order[0], "read");
  holder.resume();
  await Promise.all([opening, reading, ...openings]);
});
