// docs/internals/claims.md: 17
// A flush that failed where mounts are indistinguishable still counts where they are not. A failure of one process alone stops no other.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { disk, start, until, withMounts } from "./child-process.mjs";
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

/** Asserts that a service that has the file open goes on, and that a process opens it, with no repeat among these IDs. */
async function assertUsable(t, dir, service, issued) {
  const next = await start(t);
  await next.call("open", { dir });
  const ids = [...issued, ...(await service.call("next", 1000)), ...(await next.call("next", 1000))];
  assert.equal(repeats(ids), 0);
}

for (const [what, machine, pattern] of [
  ["writes beyond its limit of the size of files", { mounts: ["ulimit -f 8"] }, /File too large.*ulimit -f/],
  [
    "may not flush",
    { disk: disk() },
    /not permitted.*Allow this process to write and flush the file .* in its sandbox/,
  ],
]) {
  test(
    `a process that ${what} is refused alone, when it raises the ceiling and when it opens the file`,
    withMounts,
    async (t) => {
      machine.disk?.forbid();
      const dir = tempDir();
      const [service, limited, opening] = await Promise.all([start(t), start(t, machine), start(t, machine)]);
      const { path } = await service.call("open", { dir });
      const issued = await service.call("next", 1000);
      await limited.call("open", { dir });
      // Nobody has raised the ceiling for long enough, so the next call has to. The service does while it is active.
      let error;
      await until(async () => {
        const { ceilingMs } = (await service.call("health")).file;
        if (Date.now() < ceilingMs) return false;
        error = await errorOf(() => limited.call("next", 1));
        return error !== undefined;
      });
      assert.equal(error.code, "STATE_FILE_FAILED", `${error}`);
      assert.ok(error.message.includes(path), error.message);
      assert.match(wholeText(error), pattern);
      await assertUsable(t, dir, service, issued);
      // The last user of the file is killed: the next start flushes it, and raises the ceiling with that.
      const alone = tempDir();
      const last = await start(t);
      await last.call("open", { dir: alone });
      const before = await last.call("next", 1000);
      await last.end();
      const refused = await errorOf(() => opening.call("open", { dir: alone }));
      assert.equal(refused?.code, "STATE_FILE_FAILED", `${refused}`);
      const other = await start(t);
      await other.call("open", { dir: alone });
      await assertUsable(t, alone, other, before);
    },
  );
}
