// Texts that do not fit into the frame: a truncated scope would be another name, and so another ID space.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { entry, inNewProcess, needsLinux } from "./node-process.mjs";

test(
  "a scope that does not fit into the frame behind a long directory is refused, and not truncated",
  needsLinux,
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "frazil-cut-off-"));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const result = await inNewProcess(
      `
    import { createRequire } from "node:module";
    const { Snowflake } = createRequire(import.meta.url)(${JSON.stringify(entry)});
    const dir = ${JSON.stringify(`${dir}/`)};
    let code = "opened";
    try {
      Snowflake.local({ dir: dir + "./".repeat((32767 - dir.length) >> 1), scope: "shop" }).close();
    } catch (error) {
      code = error.code;
    }
    process.stdout.write(JSON.stringify(code));
  `,
      { env: { FRAZIL_BACKEND: "native" } },
    );
    assert.deepEqual([result, readdirSync(dir)], ["INVALID_OPTION", []]);
  },
);
