// localAsync() waits for a file that somebody else holds. Node has four threads for all that is asynchronous: not for waiting.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { pause, start } from "../../local/child-process.mjs";
import { place } from "../../local/temp-dir.mjs";
import { needsLinux } from "./node-process.mjs";

test("four openings that wait hold no file system call of the process", needsLinux, async (t) => {
  const [dir, paused] = [place(), pause()];
  const holder = await start(t, { pause: paused });
  paused.once("read");
  const opening = holder.call("open", { dir });
  await holder.stopped();
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
  holder.go();
  await Promise.all([opening, reading, ...openings]);
});
