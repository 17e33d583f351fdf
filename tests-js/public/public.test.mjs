// `frazil/public`: what it takes and refuses, and that no key shows. The texts themselves are in the vectors (`tests-js/vectors`).
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { createContext, runInContext, runInNewContext } from "node:vm";
import { ConfigError, DecodeError, FrazilError, Layout, Snowflake } from "frazil";
import { publicIds } from "frazil/public";
import { defineId } from "frazil/typed";
import { inNewProcess } from "../core/package-copy.mjs";

const key = "frazilkey_1K4HyElsTAhkNggnbvquuy0MuvgG";
const oldKey = "frazilkey_4MHT4bN7ccq8RO4Imy2ZOL0Vz62c";
const bytes = Uint8Array.from([43, 126, 21, 22, 40, 174, 210, 166, 171, 247, 21, 136, 9, 207, 79, 60]);
const id = 382138004275228672n;
const users = publicIds({ kind: "user", keys: [key, oldKey] });
const orders = publicIds({ kind: "order", form: "short", keys: [{ slot: 3, key }] });

/** The error that a call throws, which must be of the package. */
function errorOf(call) {
  try {
    call();
  } catch (error) {
    assert.ok(FrazilError.is(error), `${error?.stack}`);
    return error;
  }
  assert.fail("it was accepted");
}

test("an ID is written and read in both forms, also by detached methods and from decimal text", () => {
  for (const [{ encode, decode }, width] of [
    [users, 22],
    [orders, 11],
  ]) {
    const text = encode(id);
    assert.equal(text.length, width);
    assert.equal(decode(text), id);
    assert.equal(encode(`${id}`), text);
    assert.equal(decode(encode(7)), 7n);
  }
});

test("it tells what it is, and nothing can be changed", () => {
  const { encode: _, decode: __, ...facts } = users;
  const fingerprints = ["142f59c064636238", "1c2bb9c235a6eac4"];
  assert.deepEqual(facts, { kind: "user", form: "sealed", layout: "default", fingerprints });
  const layout = Layout.named("discord");
  const short = publicIds({ kind: "order", form: "short", keys: [{ slot: 1, key: bytes }], layout });
  assert.deepEqual([short.form, short.layout, short.fingerprints], ["short", layout, [fingerprints[0]]]);
  assert.ok(Object.isFrozen(users) && Object.isFrozen(users.fingerprints));
});

test("the same by require", () => {
  const required = createRequire(import.meta.url)("frazil/public");
  assert.equal(required.publicIds({ kind: "user", keys: [key] }).encode(id), users.encode(id));
  assert.ok(errorOf(() => required.publicIds({})) instanceof ConfigError);
});

test("IDs that are minted open again, and no two have one text", () => {
  const ids = new Snowflake({ node: 7, maxWaitMs: 1000 }).nextMany(2000);
  for (const { encode, decode } of [users, orders]) {
    const texts = ids.map(encode);
    assert.equal(new Set(texts).size, ids.length);
    assert.deepEqual(texts.map(decode), ids);
    // Neither the order nor the time shows: the first digits are of 2000 IDs of a few milliseconds.
    assert.ok(new Set(texts.map((text) => text.slice(0, 2))).size > 200);
  }
});

test("objects of any kinds, keys and layouts take turns", () => {
  const all = ["default", "discord", "safe53"].flatMap((layout) =>
    ["user", "org"].flatMap((kind) =>
      [key, oldKey].flatMap((key) => [
        publicIds({ kind, layout, keys: [key] }),
        publicIds({ kind, layout, form: "short", keys: [{ slot: 0, key }] }),
      ]),
    ),
  );
  const texts = all.map(({ encode }) => encode(5n));
  // The permutation of 63 bits is that of each layout but those of 64, and so is the sealed block of each.
  assert.equal(new Set(texts).size, 12);
  for (let round = 0; round < 3; round++)
    all.forEach(({ encode, decode }, at) => {
      assert.equal(encode(5n), texts[at]);
      assert.equal(decode(texts[at]), 5n);
    });
  const opened = all.filter(({ decode }) => {
    try {
      return decode(texts[0]) === 5n;
    } catch (error) {
      assert.equal(error.code, "INVALID_TEXT");
      return false;
    }
  });
  assert.deepEqual(
    opened.map(({ kind, form }) => `${kind} ${form}`),
    ["user sealed", "user sealed", "user sealed"],
  );
});

test("a text opens with the key that made it, while it is there", () => {
  const before = publicIds({ kind: "user", keys: [oldKey] });
  const text = before.encode(id);
  assert.equal(users.decode(text), id);
  assert.notEqual(users.encode(id), text);
  const error = errorOf(() => publicIds({ kind: "user", keys: [key] }).decode(text));
  assert.ok(error instanceof DecodeError);
  assert.equal(
    error.message,
    `INVALID_TEXT: text must be made with a key of the kind "user", for this layout, got "${text}"`,
  );
  assert.equal(error.hint, "Texts open only as long as their key is kept.");
  const slots = [
    { slot: 4, key: oldKey },
    { slot: 3, key },
  ];
  const both = publicIds({ kind: "order", form: "short", keys: slots });
  assert.equal(both.decode(orders.encode(id)), id);
  const other = both.encode(id);
  assert.equal(both.decode(other), id);
  assert.match(errorOf(() => orders.decode(other)).message, /^INVALID_TEXT: text must have the slot of a key, got "/);
  const zero = publicIds({ kind: "order", form: "short", keys: [{ slot: 0, key }] }).encode(id);
  assert.match(errorOf(() => both.decode(zero)).message, /^INVALID_TEXT: text must have the slot of a key, got "/);
});

test("a text of a slot that is used, of an ID that the layout does not have, is refused for that", () => {
  const keys = [key, oldKey].map((key, at) => ({ slot: 1 - at, key }));
  const small = publicIds({ kind: "order", form: "short", keys, layout: "safe53" });
  const large = publicIds({ kind: "order", form: "short", keys });
  assert.match(
    errorOf(() => small.decode(large.encode(2n ** 53n))).message,
    /text must be made with a key of the kind/,
  );
  assert.equal(small.decode(large.encode(2n ** 53n - 1n)), 2n ** 53n - 1n);
});

test("an error of a text has the position, and one of an ID the range", () => {
  const text = users.encode(id);
  for (const [wrong, position, rule] of [
    [text.slice(1), 21, "must have 22 characters"],
    [`${text}0`, 22, "must have 22 characters"],
    [text.repeat(1000), 22, "must have 22 characters"],
    ["", 0, "must have 22 characters"],
    [`-${text.slice(1)}`, 0, "must have only the digits 0-9, A-Z and a-z"],
    [`${text.slice(0, 9)}\u0161${text.slice(10)}`, 9, "must have only the digits 0-9, A-Z and a-z"],
  ]) {
    const error = errorOf(() => users.decode(wrong));
    assert.deepEqual([error.code, error.field, error.position, error.rule], ["INVALID_TEXT", "text", position, rule]);
    assert.equal(error.value, wrong);
  }
  assert.equal(errorOf(() => orders.decode("x")).rule, "must have 11 characters");
  for (const wrong of [undefined, null, 7, id, [text], new String(text)])
    assert.equal(errorOf(() => users.decode(wrong)).rule, "must be a string");
  for (const wrong of [-1n, 2n ** 63n, 2n ** 64n, "1x", 2 ** 53, null, undefined, {}]) {
    for (const { encode } of [users, orders]) {
      const error = errorOf(() => encode(wrong));
      assert.ok(error instanceof DecodeError);
      assert.deepEqual([error.code, error.field], ["INVALID_ID", "id"]);
    }
  }
  assert.equal(publicIds({ kind: "user", keys: [key], layout: "discord" }).encode(2n ** 64n - 1n).length, 22);
});

const of = (change) => ({ kind: "user", keys: [key], ...change });
const short = (...keys) => ({ kind: "user", form: "short", keys });
// Each wrong option, with the field and the message after it.
const REFUSED = [
  [undefined, "options", "must be a plain object, got undefined"],
  [key, "options", "must be a plain object, got a string"],
  [{ ...of(), key }, "key", 'unknown option "key"'],
  [{ kind: "user" }, "keys", "must be a list of 1 to 16 keys, got undefined"],
  [of({ keys: [] }), "keys", "must be a list of 1 to 16 keys, got an object"],
  [of({ keys: Array(17).fill(key) }), "keys", "must be a list of 1 to 16 keys, got an object"],
  [of({ keys: key }), "keys", "must be a list of 1 to 16 keys, got a string"],
  [of({ keys: bytes }), "keys", "must be a list of 1 to 16 keys, got 16 bytes"],
  [of({ keys: [undefined] }), "keys[0]", "must be a key of `npx frazil key new`, or 16 random bytes, got undefined"],
  [of({ keys: [key, null] }), "keys[1]", "must be a key of `npx frazil key new`, or 16 random bytes, got null"],
  [
    of({ keys: [key, "hunter2"] }),
    "keys[1]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string of 7 characters",
  ],
  [
    of({ keys: ["sixteen letters!"] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string of 16 characters",
  ],
  [
    of({ keys: [""] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string of 0 characters",
  ],
  [
    of({ keys: ["x".repeat(38)] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string",
  ],
  [of({ keys: [new Uint8Array(16)] }), "keys[0]", "must be random, and all its bytes are equal, got 16 bytes"],
  [of({ keys: [new Uint8Array(16).fill(7)] }), "keys[0]", "must be random, and all its bytes are equal, got 16 bytes"],
  [of({ keys: [oldKey, key, bytes] }), "keys[2]", "must differ from the other keys, got 16 bytes"],
  [
    of({ keys: [`${key} `] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string of 39 characters",
  ],
  [of({ keys: [key.replace("K", "k")] }), "keys[0]", "must have the checksum of its digits, got a string"],
  [of({ keys: [12345n] }), "keys[0]", "must be a key of `npx frazil key new`, or 16 random bytes, got a bigint"],
  [of({ keys: [[...bytes]] }), "keys[0]", "must be a key of `npx frazil key new`, or 16 random bytes, got an object"],
  [
    of({ keys: [new Uint8Array(32)] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got 32 bytes",
  ],
  [
    of({ keys: [new Uint16Array(16)] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got an object",
  ],
  [
    of({ keys: [{ slot: 0, key }] }),
    "keys[0]",
    "must be a key of `npx frazil key new`, or 16 random bytes, got an object",
  ],
  [of({ kind: undefined }), "kind", "must have 1 to 63 of a-z and _, with a letter at each end, got undefined"],
  [of({ kind: "User" }), "kind", 'must have 1 to 63 of a-z and _, with a letter at each end, got "User"'],
  [
    of({ kind: "a".repeat(64) }),
    "kind",
    `must have 1 to 63 of a-z and _, with a letter at each end, got "${"a".repeat(64)}"`,
  ],
  [of({ kind: "us\u0165r" }), "kind", 'must have 1 to 63 of a-z and _, with a letter at each end, got "us\u0165r"'],
  [of({ form: "long" }), "form", 'must be "sealed" or "short", got "long"'],
  [of({ form: null }), "form", 'must be "sealed" or "short", got null'],
  [short(key), "keys[0]", "must be { slot, key }, got a string"],
  [short(bytes), "keys[0]", "must be { slot, key }, got 16 bytes"],
  [short(undefined), "keys[0]", "must be { slot, key }, got undefined"],
  [short({ slot: 0, key, extra: 1 }), "extra", 'unknown option "extra"'],
  [short({ slot: 0, key }, { slot: 1, key: bytes }), "keys[1].key", "must differ from the other keys, got 16 bytes"],
  [short({ key }), "keys[0]", "must be { slot, key }, got an object"],
  [short({ slot: 0 }), "keys[0].key", "must be a key of `npx frazil key new`, or 16 random bytes, got undefined"],
  [
    short({ slot: 0, key: "x" }),
    "keys[0].key",
    "must be a key of `npx frazil key new`, or 16 random bytes, got a string of 1 characters",
  ],
  ...[5, -1, 0.5, 2 ** 32, NaN, null].map((slot) => [
    short({ slot, key }),
    "keys[0].slot",
    `must be an integer from 0 to 4, got ${slot}`,
  ]),
  [short({ slot: "0", key }), "keys[0].slot", 'must be an integer from 0 to 4, got "0"'],
  [{ ...short({ slot: 2, key }), layout: "discord" }, "keys[0].slot", "must be an integer from 0 to 1, got 2"],
  [short({ slot: 1, key }, { slot: 1, key: oldKey }), "keys[1].slot", "must differ from the other slots, got 1"],
];
for (const [options, field, said] of REFUSED) {
  test(`${field} ${said}`, () => {
    const error = errorOf(() => publicIds(options));
    assert.ok(error instanceof ConfigError);
    const message = said.startsWith("must") ? `${field} ${said}` : said;
    assert.deepEqual([error.code, error.field, error.message], ["INVALID_OPTION", field, `INVALID_OPTION: ${message}`]);
    if (error.rule.includes("npx frazil key new"))
      assert.equal(
        error.hint,
        /undefined$/.test(said)
          ? "Is the environment variable set? Make a key: npx frazil key new."
          : /characters$/.test(said)
            ? "A key has 38 characters. Look for spaces, quotes and line ends."
            : "Passphrases, hexadecimal and base64 are refused.",
      );
    // What is wrong with it: nothing of a key or what was given as one.
    assert.equal("value" in error, !/^(keys(\[\d+\](\.key)?)?|key|options)$/.test(field) || options === undefined);
  });
}
for (const layout of [
  "twitte",
  "toString",
  "",
  null,
  63,
  {},
  { fields: [] },
  { fields: [{ bits: 65 }] },
  { fields: [{}] },
  { fields: [{ bits: 70 }, { bits: -7 }] },
]) {
  test(`the layout ${inspect(layout)} is refused`, () => {
    const error = errorOf(() => publicIds(of({ layout })));
    assert.deepEqual([error.code, error.field], ["INVALID_LAYOUT", "layout"]);
    assert.equal(error.rule, "must be a layout, or the name of one");
  });
}

/** Every text in which a value may show. */
function shownBy(value) {
  const copied = {};
  for (const name in value) copied[name] = value[name];
  const deep = { depth: 9, showHidden: true };
  const shown = [inspect(value, deep), inspect(copied, deep), `${value.stack}`, `${value.hint}`, JSON.stringify(value)];
  return `${shown.join("\n")}\n${shown.join("").replace(/[\s:"\d]+,/g, (part) => part.replace(/\s/g, ""))}`;
}
const SECRETS = [
  key,
  key.slice(10, 32),
  Buffer.from(bytes).toString("hex"),
  "43,126,21",
  "hunter2",
  "2f7e3fbae4a06e22",
];
const leaks = (value) => SECRETS.some((secret) => shownBy(value).includes(secret));

test("no key shows: where the object is printed, and in errors", () => {
  for (const shown of [
    users,
    orders,
    publicIds({ kind: "user", keys: [bytes] }),
    ...REFUSED.map(([options]) => errorOf(() => publicIds(options))),
    errorOf(() => publicIds(of({ layout: "hunter" }))),
    errorOf(() => users.decode("x")),
    errorOf(() => users.encode(-1n)),
    errorOf(() => publicIds(of({ keys: [key.slice(0, -1)] }))),
    errorOf(() => publicIds(short({ slot: 9, key: bytes }))),
  ])
    assert.ok(!leaks(shown), shownBy(shown));
  assert.throws(() => structuredClone(users), { name: "DataCloneError" });
  // The checker finds an object that has its key, and an error with it.
  assert.ok(
    leaks({ ...users, keys: [bytes] }) && leaks(new Error(key)) && leaks(Object.assign(new Error(), { value: key })),
  );
});

test("a key is copied when it is given, from memory of any kind", () => {
  const text = users.encode(id);
  const own = bytes.slice();
  const made = publicIds({ kind: "user", keys: [own] });
  own.fill(0);
  assert.equal(made.encode(id), text);
  const shared = new Uint8Array(new SharedArrayBuffer(20), 2, 16);
  shared.set(bytes);
  const growing = new Uint8Array(new ArrayBuffer(16, { maxByteLength: 32 }));
  growing.set(bytes);
  const foreign = runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] });
  class Key extends Uint8Array {
    get length() {
      return 3;
    }
    get buffer() {
      return new ArrayBuffer(0);
    }
  }
  for (const given of [shared, growing, foreign, Buffer.from(bytes), new Key(bytes)])
    assert.equal(publicIds({ kind: "user", keys: [given] }).encode(id), text);
  growing.buffer.resize?.(15);
  const detached = bytes.slice();
  structuredClone(detached, { transfer: [detached.buffer] });
  for (const [given, length] of [
    [growing, 15],
    [detached, 0],
  ]) {
    const { message } = errorOf(() => publicIds({ kind: "user", keys: [given] }));
    assert.match(message, new RegExp(`got ${length} bytes$`));
  }
});

test("code of the caller that runs while options are read sees whole objects", () => {
  const text = users.encode(id);
  const meddling = {
    get kind() {
      users.decode(text);
      return "user";
    },
    get keys() {
      orders.encode(id);
      return new Proxy([key, oldKey], {
        get(list, name) {
          publicIds({ kind: "org", keys: [oldKey] }).encode(1n);
          return list[name];
        },
      });
    },
  };
  const made = publicIds(meddling);
  assert.equal(made.encode(id), text);
  assert.equal(made.decode(text), id);
});

test("what a program replaces after the load changes nothing, and no key reaches it", async () => {
  const script = `
    import { publicIds } from "frazil/public";
    const caught = [];
    const options = [{ kind: "user", keys: [${JSON.stringify(key)}] }, { kind: "user", form: "short", keys: [{ slot: 0, key: new Uint8Array([${bytes}]) }] }];
    const [sealed, short] = options;
    const answer = (given) => { const ids = publicIds(given); return [ids.encode(5n), String(ids.decode(ids.encode(5n)))]; };
    const before = [answer(sealed), answer(short)];
    for (const at of [0, 1, 2]) Object.defineProperty(Array.prototype, at, { set: (value) => caught.push(1), get: () => 1, configurable: true });
    for (const [Class, names] of [[Array, ["push", "slice", "map", "indexOf"]], [Object.getPrototypeOf(Uint8Array), ["set", "slice", "fill", "subarray"]]])
      for (const name of names) Class.prototype[name] = () => { throw new Error(name); };
    Object.assign(Object.prototype, { form: "short", layout: "discord", slot: 3, bits: 1 });
    globalThis.Uint8Array.from = () => { throw new Error("from"); };
    const after = [answer(sealed), answer(short)];
    for (const at of [0, 1, 2]) delete Array.prototype[at];
    process.stdout.write(JSON.stringify({ before, after, caught }));
  `;
  const { before, after, caught } = await inNewProcess(script);
  assert.deepEqual(after, before);
  assert.equal(before[0][0].length, 22);
  assert.deepEqual(caught, []);
});

test("it works with frozen intrinsics", async () => {
  const script = `
    import { publicIds } from "frazil/public";
    const { encode, decode } = publicIds({ kind: "user", keys: [${JSON.stringify(key)}] });
    process.stdout.write(JSON.stringify(encode(${id}n)));
    decode(encode(5n));
  `;
  assert.equal(await inNewProcess(script, { flags: ["--frozen-intrinsics", "--no-warnings"] }), users.encode(id));
});

test("where WebAssembly is forbidden, the error says so, and how to allow it", async () => {
  const script = `
    WebAssembly.Module = class { constructor() { throw new Error("Wasm code generation disallowed by embedder"); } };
    const { publicIds } = await import("frazil/public");
    try { publicIds({ kind: "user", keys: [${JSON.stringify(key)}] }); } catch (error) { process.stdout.write(JSON.stringify(error)); }
  `;
  const error = await inNewProcess(script);
  assert.equal(error.code, "WASM_UNAVAILABLE");
  assert.match(error.hint, /script-src 'wasm-unsafe-eval'/);
});

test("a call that a full stack ends leaves nothing behind", () => {
  const text = users.encode(id);
  const short = orders.encode(id);
  let ended = 0;
  /** Calls both at each depth of the stack, on the way back from its end. */
  const deeper = () => {
    try {
      deeper();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    try {
      if (ended < 400) {
        ended++;
        assert.equal(users.decode(text), id);
        assert.equal(orders.encode(id), short);
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  };
  deeper();
  assert.ok(ended > 100);
  assert.equal(users.encode(id), text);
  assert.equal(orders.decode(short), id);
});

test("a call that a timeout ends leaves nothing behind", () => {
  const [sealed, short] = [users.encode(id), orders.encode(id)];
  const context = createContext({ users, orders, make: () => publicIds({ kind: "user", keys: [oldKey] }) });
  for (let round = 0; round < 60; round++) {
    const endless = "for (let id = 0n; ; id++) { users.encode(id); orders.encode(id); make(); }";
    assert.throws(() => runInContext(endless, context, { timeout: 3 }), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
    assert.equal(users.encode(id), sealed);
    assert.equal(orders.decode(short), id);
  }
});

test("nothing of a key stays in the memory of the module", async () => {
  const script = `
    const made = [];
    const { Instance } = WebAssembly;
    WebAssembly.Instance = class extends Instance { constructor(module) { super(module); made.push(this); } };
    const { publicIds } = await import("frazil/public");
    const bytes = Buffer.from([${bytes}]);
    const secrets = [bytes, ${JSON.stringify(key.slice(10, 32))}, Buffer.from("2f7e3fbae4a06e22cd9899feeaa0c742", "hex")];
    const has = () => secrets.map((secret) => Buffer.from(made[0].exports.memory.buffer).includes(secret));
    const found = [];
    for (const key of [${JSON.stringify(key)}, bytes])
      for (const more of [
        { keys: [key] },
        { keys: [key, key] },
        { keys: [key, new Uint8Array(16)] },
        { keys: [key], kind: "User" },
        { form: "short", keys: [{ slot: 0, key }] },
        { form: "short", keys: [{ slot: 9, key }] },
        { form: "short", keys: [{ slot: 0, key }, { slot: 1, key }] },
      ]) {
        try { publicIds({ kind: "user", ...more }); } catch {}
        found.push(...has());
      }
    // The checker finds a key in each of its forms.
    const text = new Uint8Array(made[0].exports.memory.buffer);
    for (const secret of secrets) { text.set(Buffer.from(secret), 99); found.push(has().filter(Boolean).length); }
    process.stdout.write(JSON.stringify(found));
  `;
  const found = await inNewProcess(script);
  assert.deepEqual(found.splice(-3), [1, 1, 1]);
  assert.equal(found.length, 42);
  assert.ok(!found.includes(true), `${found}`);
});

test("what the module refuses to write is no text", async () => {
  const script = `
    const { Instance } = WebAssembly;
    WebAssembly.Instance = class {
      constructor(module) { this.exports = { ...new Instance(module).exports, encode: () => 54 }; }
    };
    const { publicIds } = await import("frazil/public");
    try { publicIds({ kind: "user", keys: [${JSON.stringify(key)}] }).encode(5n); } catch (error) { process.stdout.write(JSON.stringify(error)); }
  `;
  const { code, field } = await inNewProcess(script);
  assert.deepEqual([code, field], ["INVALID_OPTION", "keys"]);
});

const WRONG_PLACES = [
  (key) => publicIds(of({ kind: key })),
  (key) => publicIds(of({ layout: key })),
  (key) => publicIds(of({ form: key })),
  (key) => publicIds(short({ slot: key, key })),
  (key) => users.decode(key),
  (key) => orders.decode(`"${key}"`),
  (key) => orders.decode("x".repeat(40) + key),
  (key) => publicIds({ ...of({}), [key]: 1 }),
  (key) => publicIds(key),
  (key) => defineId(key),
  (key) => defineId("usr", { public: key }),
  (key) => defineId("usr", { layout: key }),
  (key) => defineId("usr", { [key]: 1 }),
  (key) => defineId("usr").parse(key),
  (key) => Layout.named(key),
  (key) => Layout.named("default").parse(key),
  (key) => new Snowflake({ node: key }),
];
for (const [how, given] of [
  ["as it is", key],
  // Of which a search for the case of each letter finds the key.
  ["in capitals", key.toUpperCase()],
  ["on two lines", key.replace(/.{24}/, "$&\r\n")],
  ["with blanks", key.replace(/_/, "$& ").replace(/.{20}/, "$& ")],
  ["with another one", `${key},${oldKey}`],
]) {
  test(`a key that was given in the wrong place does not show: ${how}`, () => {
    const parts = given.match(/\w{9,}/g).flatMap((part) => part.replace(/^frazilkey_/i, "").match(/.{6}/g) ?? []);
    assert.ok(parts.length >= 3);
    for (const call of WRONG_PLACES) {
      const error = errorOf(() => call(given));
      const shown = shownBy(error);
      assert.ok(!parts.some((part) => shown.includes(part)), shown);
      assert.notEqual(typeof error.value, "string");
    }
  });
}
