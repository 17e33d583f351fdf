// Frozen intrinsics, other vm contexts and other realms: the same calls give the same results.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { FrazilError, Layout, Snowflake } from "frazil";
import { repeats } from "../generator/broken-generators.mjs";
import { increasing, start } from "../generator/scripted-clock.mjs";
import { inNewProcess } from "./package-copy.mjs";

test("every call works with --frozen-intrinsics", async () => {
  const script = `
    import { Layout, Snowflake } from "frazil";
    import { decode } from "frazil/decode";
    import { base62 } from "frazil/text";
    import { inspect } from "node:util";
    const ids = new Snowflake({ node: 7, maxWaitMs: 1000 });
    const got = [ids.next(), ...ids.nextMany(5000), ...ids.fill(new BigUint64Array(5000)), await ids.nextAsync(), ...(await ids.nextManyAsync(5000))];
    const codes = [];
    for (const call of [() => new Snowflake({}), () => ids.fill([]), () => new Layout({}), () => ids.decode("x")]) {
      try { call(); } catch (error) { codes.push([error.name, error.code, error.toJSON().field]); }
    }
    const decoded = decode(got[0], "default");
    ids.health();
    const same = Layout.named("default").compose(decoded) === got[0] && base62.decode(base62.encode(got[0])) === got[0];
    process.stdout.write(JSON.stringify({ repeats: got.length - new Set(got).size, codes, same, shown: inspect(decoded).includes("parts") }));
  `;
  const {
    repeats: repeated,
    codes,
    same,
    shown,
  } = await inNewProcess(script, { flags: ["--frozen-intrinsics", "--no-warnings"] });
  assert.deepEqual({ repeated, same, shown }, { repeated: 0, same: true, shown: true });
  assert.deepEqual(codes, [
    ["ConfigError", "NODE_REQUIRED", "node"],
    ["ConfigError", "INVALID_ARGUMENT", "target"],
    ["ConfigError", "INVALID_LAYOUT", "fields"],
    ["DecodeError", "INVALID_ID", "id"],
  ]);
});

test("a generator accepts values of another vm context, and its results work there", async () => {
  const context = createContext({ Snowflake, Layout, start, FrazilError });
  const inside = (code) => runInContext(code, context);
  inside("var ids = new Snowflake({ node: 7, now: () => start, maxLeadMs: 1000 })");
  const got = [
    ...inside("ids.nextMany(5000)"),
    ...inside("ids.fill(new BigUint64Array(5000))"),
    ...(await inside("ids.fillAsync(new BigUint64Array(5000))")),
    ...(await inside("ids.nextManyAsync(5000, {})")),
  ];
  assert.equal(repeats(got), 0);
  assert.ok(increasing(got));
  const layout = Layout.named("default");
  const date = inside("new Date(start)");
  assert.equal(layout.minIdAt(date), layout.minIdAt(start));
  assert.equal(layout.maxIdAt(date), layout.maxIdAt(start));
  assert.deepEqual(layout.range(date, date), layout.range(start, start));
  assert.equal(
    layout.compose({ timestampMs: date, node: 1, sequence: 2 }),
    layout.compose({ timestampMs: start, node: 1, sequence: 2 }),
  );
  assert.deepEqual(
    inside("new Layout({ ...Layout.named('twitter').toJSON() }).toJSON()"),
    Layout.named("twitter").toJSON(),
  );
  assert.equal(
    inside("try { ids.fill([]) } catch (error) { FrazilError.is(error) && error.code }"),
    "INVALID_ARGUMENT",
  );
});

test("the time of a Date is its internal value, whatever a subclass returns, and is read once", () => {
  const layout = Layout.named("default");
  let asked = 0;
  class Lying extends Date {
    getTime() {
      asked++;
      return asked;
    }
    valueOf() {
      asked++;
      return asked;
    }
    [Symbol.toPrimitive]() {
      asked++;
      return asked;
    }
  }
  const fields = { node: 1, sequence: 2 };
  assert.equal(
    layout.compose({ ...fields, timestampMs: new Lying(start) }),
    layout.compose({ ...fields, timestampMs: start }),
  );
  assert.equal(asked, 0);
});
