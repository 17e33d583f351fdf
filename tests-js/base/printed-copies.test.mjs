// A Proxy of an object of the package, or an object that inherits from it, prints as a plain object, without throwing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Snowflake } from "frazil";
import { seededIds } from "frazil/testing";

const ids = seededIds();
const decoded = ids.decode(ids.next());

test("a generator behind a Proxy, and what inherits from one", () => {
  assert.match(inspect(ids), /^Snowflake \{\s+layout: /);
  assert.match(inspect(new Proxy(ids, {})), /nextString: /);
  for (const copy of [Object.create(ids), Snowflake.prototype, { ids: new Proxy(ids, {}) }]) inspect(copy);
});

test("a decoded ID behind a Proxy, and what inherits from one", () => {
  assert.match(inspect(decoded), /parts: /);
  assert.match(inspect(new Proxy(decoded, {})), /timestampMs: 1735689600000/);
  assert.doesNotMatch(inspect(new Proxy(decoded, {})), /parts/);
  inspect(Object.create(decoded));
  const { id, timestampMs } = JSON.parse(JSON.stringify(new Proxy(decoded, {})));
  assert.deepEqual([id, timestampMs], [`${decoded.id}`, 1735689600000]);
  assert.equal(JSON.stringify(Object.create(decoded)), JSON.stringify({ id: `${decoded.id}` }));
});
