const assert = require("node:assert/strict");
const frazil = require("frazil");
const { decode } = require("frazil/decode");
const { base62 } = require("frazil/text");

const { FrazilError, Layout, Snowflake } = frazil;
const ids = new Snowflake({ node: 7 });
assert.equal(ids.backend, "native");
const issued = [ids.next(), BigInt(ids.nextString()), ...ids.nextMany(1000), ...ids.fill(new BigUint64Array(1000))];
assert.ok(issued.every((id, at) => at === 0 || issued[at - 1] < id));
assert.equal(decode(issued[0], "default").node, 7);
assert.equal(Layout.named("discord").decode("175928847299117063").date.toISOString(), "2016-04-30T11:18:25.796Z");
assert.equal(decode("175928847299117063", "discord").date.toISOString(), "2016-04-30T11:18:25.796Z");
assert.equal(base62.decode(base62.encode(issued[0])), issued[0]);
// An error of one entry is an instance of the other entry's class too.
assert.throws(
  () => decode("no id", "default"),
  (error) => error instanceof FrazilError && FrazilError.is(error) && error.code === "INVALID_ID",
);
assert.throws(
  () => base62.decode("no id"),
  (error) => error instanceof FrazilError && error.code === "INVALID_TEXT" && error.position === 2,
);
process.stdout.write(Object.keys(frazil).sort().join(" "));
