// Segments in SQLite: faults with files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { passedIn } from "./programs.mjs";

// docs/internals/claims.md: 28, 29
test("files that are restored, and four processes at once", async () => {
  assert.ok((await passedIn("segments-files.mjs")) >= 6);
});
