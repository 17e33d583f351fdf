// Errors: code and class identify them whichever copy of the package made them; fields that do not apply are absent; they can be logged.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import * as frazil from "frazil";
import * as decoder from "frazil/decode";
import { copyPackage } from "../core/package-copy.mjs";
import { load } from "../vectors/generated-tables.mjs";
import { messageOf } from "./rule-texts.mjs";

const { ClockError, ConfigError, DecodeError, FrazilError, LeaseError, Snowflake } = frazil;
const require = createRequire(import.meta.url);
const start = 1_780_000_000_000;
const folder = copyPackage();

/** Several copies of the package, each with its own classes. */
const copies = {
  frazil,
  "frazil, by require": require("frazil"),
  "another copy": await import(`${folder}/dist/node.mjs`),
  "another copy, by require": require(`${folder}/dist/node.cjs`),
  "the bundle for the web": await import(`${folder}/dist/inline.mjs`),
};
/** Several copies of the decoder, each with its own classes. */
const decoders = {
  "frazil/decode": decoder,
  "frazil/decode, by require": require("frazil/decode"),
  "another copy of frazil/decode": await import(`${folder}/dist/decode.mjs`),
  "frazil/decode in another realm": inAnotherRealm(require.resolve("frazil/decode")),
};

/** The exports of a CommonJS bundle that runs in a realm with its own `Error`, `Object` and `Array`. */
function inAnotherRealm(file) {
  const module = { exports: {} };
  runInNewContext(readFileSync(file, "utf8"), { module, exports: module.exports });
  return module.exports;
}

function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

/** The names of a copy's classes of which an error is an instance. */
const namesOf = (error, classes) =>
  ["FrazilError", "ConfigError", "ClockError", "LeaseError", "DecodeError"].filter(
    (name) => classes[name] !== undefined && error instanceof classes[name],
  );

const makers = {
  ConfigError: ({ Snowflake }) => new Snowflake({ node: -1 }),
  DecodeError: ({ Layout }) => Layout.named("default").decode("x"),
  ClockError: ({ Snowflake }) => new Snowflake({ node: 7, now: () => Number.NaN }).next(),
};

for (const [makerName, maker] of Object.entries(copies)) {
  for (const [readerName, reader] of Object.entries({ ...copies, ...decoders })) {
    test(`the classes of ${readerName} recognise an error of ${makerName}`, () => {
      for (const [name, call] of Object.entries(makers)) {
        const error = thrown(() => call(maker));
        const known = ["FrazilError", name].filter((each) => reader[each] !== undefined);
        assert.deepEqual(namesOf(error, reader), known);
        assert.ok(reader.FrazilError.is(error));
        assert.equal(error.name, name);
      }
    });
  }
}

for (const [makerName, maker] of Object.entries(decoders)) {
  test(`the classes of frazil recognise an error of ${makerName}`, () => {
    const error = thrown(() => maker.decode("x", "default"));
    assert.deepEqual(namesOf(error, frazil), ["FrazilError", "DecodeError"]);
    assert.ok(FrazilError.is(error));
    assert.equal(error.code, "INVALID_ID");
    const unknown = thrown(() => maker.decode(1n, "nope"));
    assert.deepEqual(namesOf(unknown, frazil), ["FrazilError", "ConfigError"]);
    assert.deepEqual([unknown.code, unknown.name], ["INVALID_LAYOUT", "ConfigError"]);
  });
}

test("FrazilError.is recognises errors of another realm, which has its own Error", () => {
  const error = thrown(() => decoders["frazil/decode in another realm"].decode("x", "default"));
  assert.ok(!(error instanceof Error), "the error must come from another realm");
  assert.ok(error instanceof FrazilError);
});

test("an array of another realm can be filled and decoded", () => {
  const theirs = runInNewContext("new BigUint64Array(3)");
  assert.ok(!(theirs instanceof BigUint64Array));
  new Snowflake({ node: 7, now: () => start }).fill(theirs);
  assert.equal(frazil.Layout.named("default").decodeMany(theirs).timestampMs[2], start);
});

test("ESM import and CommonJS require give the same classes", () => {
  assert.deepEqual(Object.keys(require("frazil")).sort(), Object.keys(frazil).sort());
  for (const [name, value] of Object.entries(require("frazil"))) assert.equal(value, frazil[name], name);
});

test("a value that is no error of this package is not recognised as one", () => {
  const others = [
    null,
    undefined,
    5,
    0,
    "",
    "CLOSED",
    true,
    5n,
    Symbol("x"),
    {},
    [],
    () => 1,
    Object.create(null),
    new Error("CLOSED: x"),
  ];
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const refusesToTell = {
    get [Symbol.for("frazil.error")]() {
      throw new Error("not your business");
    },
  };
  class Derived extends ConfigError {}
  for (const other of [
    ...others,
    Object.assign(new Error("x"), { code: "CLOSED", retryable: false, name: "FrazilError" }),
    revoked,
    refusesToTell,
  ]) {
    assert.equal(FrazilError.is(other), false);
    for (const each of [FrazilError, ConfigError, ClockError, LeaseError, DecodeError, Derived])
      assert.equal(other instanceof each, false);
  }
});

test("the four classes are disjoint, and each extends FrazilError and Error", () => {
  for (const each of [ConfigError, ClockError, LeaseError, DecodeError]) {
    const error = new each("CLOSED", "x");
    assert.ok(error instanceof Error && error instanceof FrazilError && error instanceof each);
    assert.deepEqual(namesOf(error, frazil), ["FrazilError", each.name]);
    assert.equal(error.name, each.name);
    assert.equal(Object.prototype.toString.call(error), "[object Error]");
  }
  assert.deepEqual(namesOf(new FrazilError("CLOSED", "x"), frazil), ["FrazilError"]);
});

test("a subclass works with instanceof and may set its own name", () => {
  class QuotaError extends FrazilError {}
  class NamedError extends ClockError {
    constructor(message) {
      super("SEQUENCE_EXHAUSTED", message);
      this.name = "NamedError";
    }
  }
  const quota = new QuotaError("CLOSED", "x");
  assert.ok(quota instanceof QuotaError && quota instanceof FrazilError && FrazilError.is(quota));
  assert.equal(quota instanceof ConfigError, false);
  assert.equal(new FrazilError("CLOSED", "x") instanceof QuotaError, false);
  const named = new NamedError("x");
  assert.ok(named instanceof NamedError && named instanceof ClockError);
  assert.equal(new ClockError("SEQUENCE_EXHAUSTED", "x") instanceof NamedError, false);
  assert.equal(`${named}`, "NamedError: SEQUENCE_EXHAUSTED: x");
  assert.equal(Object.keys(named).includes("name"), false, "a name must not be enumerable, as in any error");
  assert.equal(new ClockError("SEQUENCE_EXHAUSTED", "x").name, "ClockError");
});

test("fields that do not apply are absent", () => {
  const closed = new Snowflake({ node: 7, now: () => start });
  closed.close();
  const stalled = new Snowflake({ node: 7, maxWaitMs: 0, maxLeadMs: 0, now: () => start });
  stalled.nextMany(4096);
  for (const [error, fields] of [
    [thrown(() => closed.next()), ["retryable"]],
    [thrown(() => stalled.next()), ["hint", "retryAfterMs", "retryable"]],
    [thrown(() => stalled.nextMany(1)), ["hint", "issued", "retryAfterMs", "retryable"]],
    [thrown(() => stalled.nextMany(4097)), ["field", "hint", "maxCount", "retryable", "rule", "value"]],
    [thrown(() => new Snowflake()), ["field", "hint", "retryable", "rule", "value"]],
    [thrown(() => stalled.decode("x")), ["field", "retryable", "rule", "value"]],
  ]) {
    assert.deepEqual(Object.keys(error).sort(), fields, error.message);
    for (const name of [
      "field",
      "value",
      "rule",
      "hint",
      "retryAfterMs",
      "maxCount",
      "issued",
      "position",
      "index",
      "cause",
    ]) {
      assert.equal(name in error, fields.includes(name), `${name} in ${error.message}`);
    }
  }
});

test("an error is retryable if the same call can succeed later", () => {
  let now = start;
  const ids = new Snowflake({ node: 7, maxWaitMs: 0, maxLeadMs: 0, now: () => now });
  ids.nextMany(4096);
  const exhausted = thrown(() => ids.next());
  assert.deepEqual([exhausted.code, exhausted.retryable, exhausted.retryAfterMs], ["SEQUENCE_EXHAUSTED", true, 1]);
  now -= 5;
  const backward = thrown(() => ids.next());
  assert.deepEqual([backward.code, backward.retryable, backward.retryAfterMs], ["CLOCK_BACKWARD", true, 6]);
  const tooMany = thrown(() => ids.nextMany(4097));
  assert.deepEqual([tooMany.code, tooMany.retryable, tooMany.maxCount], ["SEQUENCE_EXHAUSTED", false, 4096]);
  assert.equal(thrown(() => new Snowflake()).retryable, false);
  now = start + 1;
  assert.equal(ids.decode(ids.next()).timestampMs, now);
});

test("an error has the property cause only if there is a cause", () => {
  const cause = new Error("below");
  const error = new FrazilError("STORE_UNAVAILABLE", "x", { cause });
  assert.equal(error.cause, cause);
  assert.equal(Object.keys(error).includes("cause"), false, "a cause must not be enumerable, as in any error");
  assert.equal("cause" in new FrazilError("CLOSED", "x", { cause: undefined }), false);
  assert.match(inspect(error), /\[cause\]: Error: below/);
});

test("an error can be logged as JSON, whatever its value is", () => {
  const layout = frazil.Layout.named("default");
  const circular = {};
  circular.self = circular;
  for (const [value, expected] of [
    [-1n, /^-1n$/],
    ["12a", /^"12a"$/],
    ["x".repeat(1000), /^"x{50,80}.?"$/],
    ["\u{1f600}".repeat(1e7), /^"\u{1f600}{64}\u2026"$/u],
    ["\u{1f600}".repeat(65), /^"\u{1f600}{64}\u2026"$/u],
    ["\u{1f600}".repeat(64), /^"\u{1f600}{64}"$/u],
    [Symbol("id"), /^Symbol\(id\)$/],
    [undefined, /^undefined$/],
    [null, /^null$/],
    [Number.NaN, /^NaN$/],
    [circular, /object/],
    [() => 1, /function/],
    [[1n], /array|object/],
  ]) {
    const error = thrown(() => layout.decode(value));
    const { name, code, message, retryable, field, rule, hint } = error;
    // The value is shown as in the message.
    const shown = message.slice(messageOf(error, "").length);
    assert.match(shown, expected);
    assert.deepEqual(JSON.parse(JSON.stringify({ error })), {
      error: { name, message, code, retryable, field, value: shown, rule, ...(hint && { hint }) },
    });
  }
  const closed = new ConfigError("CLOSED", "x");
  assert.deepEqual(JSON.parse(JSON.stringify(closed)), {
    name: "ConfigError",
    message: "CLOSED: x",
    code: "CLOSED",
    retryable: false,
  });
});

test("an error shows its class, code and message, and its stack starts where it was thrown, not inside the package", () => {
  const error = thrown(() => new Snowflake({ node: 1024 }));
  assert.equal(`${error}`, `ConfigError: ${error.message}`);
  assert.match(error.stack, /^ConfigError: INVALID_NODE: node must be an integer from 0 to 1023, got 1024\n/);
  assert.match(error.stack, /errors\.test\.mjs/);
  const text = inspect(error);
  assert.equal(text.split("INVALID_NODE").length, 2, "the code must be there once");
  assert.match(text, /value: 1024/);
  assert.doesNotMatch(text, /retryAfterMs|position|undefined/);
});

test("the code is not an own property, since the message begins with it, and loggers find it all the same", () => {
  const error = thrown(() => new Snowflake({ node: 1024 }));
  assert.equal(Object.hasOwn(error, "code"), false);
  const found = {};
  for (const name in error) found[name] = error[name];
  assert.deepEqual(found, { code: error.code, ...error });
  error.code = "OTHER";
  assert.deepEqual([error.code, Object.hasOwn(error, "code"), error.toJSON().code], ["OTHER", false, "OTHER"]);
  assert.equal(new ConfigError("CLOSED", "x").code, "CLOSED");
  assert.equal(Object.create(new ConfigError("CLOSED", "x")).code, "CLOSED");
  assert.equal(FrazilError.prototype.code, undefined);
});

test("behind a Proxy an error has its code, its class and its details, and can be given another code", () => {
  const error = thrown(() => new Snowflake({ node: 1024 }));
  const proxy = new Proxy(error, {});
  assert.ok(proxy instanceof ConfigError && FrazilError.is(proxy));
  assert.deepEqual([proxy.code, proxy.name, proxy.toJSON()], [error.code, error.name, error.toJSON()]);
  proxy.code = "OTHER";
  assert.deepEqual([proxy.code, Object.keys(proxy)], ["OTHER", Object.keys(error)]);
});

test("an object that inherits from an error has no code if its message has none", () => {
  const heir = Object.create(new ConfigError("CLOSED", "x"));
  heir.message = "at the start: CLOSED: x";
  assert.equal(heir.code, "CLOSED");
  heir.message = "while minting: it is full";
  assert.equal(heir.code, undefined);
  assert.equal(Object.create(heir, { message: { value: 5 } }).code, undefined);
  assert.equal(Reflect.get(FrazilError.prototype, "code", {}), undefined);
});

test("what follows a line break in a message is the hint, which is enumerable and printed; without one there is no hint", () => {
  const error = new ConfigError("CLOSED", "it is closed\nMake another.\nOr wait.");
  assert.deepEqual([error.message, error.hint], ["CLOSED: it is closed", "Make another. Or wait."]);
  assert.ok(Object.keys(error).includes("hint") && !error.stack.includes("Make another"));
  assert.match(inspect(error), /hint: 'Make another\. Or wait\.'/);
  assert.equal(JSON.parse(JSON.stringify(error)).hint, error.hint);
  assert.equal(new ConfigError("CLOSED", "x", { hint: "Make another." }).hint, "Make another.");
  for (const text of ["x", "x\n"]) assert.equal("hint" in new ConfigError("CLOSED", text), false);
});

test("a hint says waits in milliseconds, minutes or days, rounded up, in the rows of the core", async () => {
  const { retryError } = await load("errors", "base");
  const rows = readFileSync(new URL("../../crates/core/tests/waits.txt", import.meta.url), "utf8")
    .trim()
    .split("\n");
  for (const [, ms, wait] of rows.map((row) => /^(\d+) (.*)$/.exec(row)))
    assert.equal(retryError("CLOCK_BACKWARD", "x", Number(ms)).hint, `Retry after ${wait}.`);
});

test("an error that nobody catches is printed with its code once", () => {
  const program = `import { Snowflake } from "frazil"; new Snowflake({ node: Number(undefined) });`;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(status, 1);
  assert.match(stderr, /ConfigError: INVALID_NODE: node must be .*, got NaN\n/);
  assert.match(stderr, /^ {2}hint: 'Is the environment variable set\? Number\(undefined\) is NaN\.'$/m);
  assert.equal(stderr.split("INVALID_NODE").length, 2, stderr);
});

test("a structured clone keeps message and stack, as of any error", () => {
  const error = thrown(() => new Snowflake({ node: 1024 }));
  const clone = structuredClone(error);
  assert.equal(clone.message, error.message);
  assert.ok(clone.message.startsWith("INVALID_NODE: "), "the message must contain the code, which the clone loses");
});
