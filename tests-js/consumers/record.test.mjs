// The committed record has a row for each consumer of the list. The test fails for one that was never run, or not since a change of its
// packages or expected backends.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CONSUMERS } from "./consumers.mjs";
import { backendsOf, isOfVersions, packagesOf, parseRecord, RECORD } from "./record.mjs";

const rows = parseRecord(readFileSync(RECORD, "utf8"));

test("the record has the consumers of the list, in its order", () => {
  assert.deepEqual(
    [...rows.keys()],
    CONSUMERS.map(({ name }) => name),
  );
});

for (const consumer of CONSUMERS) {
  test(`the record of ${consumer.name} is of its packages and backends`, () => {
    const [, , shows, versions, backends, date] = (rows.get(consumer.name) ?? "").split(" | ").join("| ").split("| ");
    assert.equal(shows, consumer.shows);
    assert.ok(isOfVersions(versions, consumer), `${versions} is not of ${consumer.tool ?? ""} ${packagesOf(consumer)}`);
    assert.equal(backends, backendsOf(consumer));
    assert.match(date, /^\d{4}-\d{2}-\d{2} \|$/);
  });
}
