// docs/safety.md: 17
// A flush that failed where mounts cannot be told apart still counts where they can.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { errorOf } from "../api/bad-input.mjs";
import { disk, start, withMounts } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

test("a flush that failed in a container without /sys ends the file outside of it too", withMounts, async (t) => {
  const [dir, failing] = [tempDir(), disk()];
  const inside = await start(t, { disk: failing, mounts: ["mount -t tmpfs none /sys/fs"] });
  const outside = await start(t);
  await inside.call("open", { dir });
  await inside.mint({ file: join(tempDir(), "ids") });
  failing.failOnce();
  await inside.untilRefused("STATE_FILE_FAILED");
  await inside.end();
  const error = await errorOf(() => outside.call("open", { dir }));
  assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
});
