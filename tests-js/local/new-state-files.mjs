// State files that are not in use, and the check that a file is refused every time, and not changed.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Layout, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { tempDir } from "./temp-dir.mjs";

export const timestampOf = (id) => Layout.named("default").timestampOf(id);
export const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);

/** The tests mostly wait, so several can run at once. */
export const concurrency = 6;

/** Directories with a state file each. The first opening of a new file waits for a second: here all at the same time. */
const directories = await Promise.all(
  Array.from({ length: 64 }, async () => {
    const dir = tempDir();
    (await Snowflake.localAsync({ dir })).close();
    return dir;
  }),
);

/** A state file that is not in use, and the IDs that were minted from it. */
export function newStateFile({ dir = directories.pop() ?? tempDir(), ...options } = {}) {
  const issued = [];
  let path;
  // Opened twice, so that both records have been written since the file was created.
  for (let run = 0; run < 2; run++) {
    const ids = Snowflake.local({ dir, ...options });
    path = ids.health().file.path;
    issued.push(ids.next());
    ids.close();
  }
  return { dir, path, issued };
}

/** Asserts that a file is refused, every time, by an error that names it, and that a refusal does not change the file. */
export async function assertRefused(path, code, pattern, open = (options) => Snowflake.local(options), options = {}) {
  const dir = dirname(path);
  const look = () => (existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined);
  const [before, names] = [look(), readdirSync(dir)];
  for (let attempt = 0; attempt < 2; attempt++) {
    const error = await errorOf(() => open({ dir, ...options }));
    assert.equal(error?.code, code, `${error}`);
    assert.equal(error.field, "dir");
    assert.ok(error.message.includes(path), error.message);
    assert.match(wholeText(error), pattern);
  }
  assert.deepEqual(look(), before);
  assert.deepEqual(readdirSync(dir), names, "no debris");
}

export const assertCorrupt = (path, pattern, ...rest) => assertRefused(path, "STATE_FILE_CORRUPT", pattern, ...rest);
