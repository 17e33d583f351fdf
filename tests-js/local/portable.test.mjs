// `Snowflake.local()` on every system, with real files. On an unproven platform, the test accepts that, as a caller has to. The other files
// of this folder need Linux (mounts, namespaces, /proc). On every system, `crates/local/tests/portable.rs` kills processes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { ConfigError, Snowflake } from "frazil";
import { PLATFORM_NAME as platform } from "../../scripts/shell.mjs";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { testFolder } from "./minting-process.mjs";

const record = JSON.parse(readFileSync(new URL("../../docs/proofs/local-platforms.json", import.meta.url), "utf8"));
const proven = Object.keys(record.runs).filter((name) => record.runs[name].emulator === null);
const accepted = { acceptUnprovenPlatform: true };

describe(`on ${platform}`, () => {
  test(
    proven.includes(platform) ? "the platform is proven" : "the platform is refused unless it is accepted",
    async (t) => {
      const dir = testFolder(t, "portable");
      for (const open of [Snowflake.local, Snowflake.localAsync]) {
        for (const options of [{}, { acceptUnprovenPlatform: false }]) {
          const error = await errorOf(async () => (await open({ dir, ...options })).close());
          if (proven.includes(platform)) {
            assert.equal(error, undefined);
            continue;
          }
          assert.ok(error instanceof ConfigError, `${error}`);
          assert.deepEqual([error.code, error.field], ["UNPROVEN_PLATFORM", "acceptUnprovenPlatform"]);
          const [os, arch] = platform.split("-");
          const cure = `acceptUnprovenPlatform: process.platform === "${os}" && process.arch === "${arch}"`;
          for (const text of [...proven, platform, cure, "new Snowflake({ node })", "lease(store)"])
            assert.ok(wholeText(error).includes(text), wholeText(error));
        }
        (await open({ dir, ...accepted })).close();
      }
    },
  );

  test("generators on one file share a state, and the next one continues above it", async (t) => {
    const dir = testFolder(t, "portable");
    const options = { dir, maxWaitMs: 1000, ...accepted };
    const [one, other] = [Snowflake.local(options), await Snowflake.localAsync(options)];
    const ids = Array.from({ length: 5000 }, (_, at) => (at % 2 ? one : other).next());
    assert.equal(repeats(ids), 0);
    assert.equal(dirname(one.health().file.path), dir);
    one.close();
    other.close();
    const next = Snowflake.local(options);
    assert.ok(next.next() > ids.at(-1));
    next.close();
  });

  test("scopes that differ in capital letters have a file each", (t) => {
    const dir = testFolder(t, "portable");
    const open = (scope) => Snowflake.local({ dir, scope, ...accepted });
    const opened = ["orders", "Orders"].map(open);
    assert.equal(new Set(opened.map((ids) => ids.health().file.path.toLowerCase())).size, 2);
    for (const ids of opened) ids.close();
    const again = open("Orders");
    again.next();
    again.close();
  });
});
