// The text forms: random IDs compared with a model that divides bigints, bad input of every kind, many at once, detached calls.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { ConfigError, DecodeError, FrazilError, Layout, Snowflake } from "frazil";
import * as text from "frazil/text";
import { messageOf, ruled } from "../base/rule-texts.mjs";
import { rules } from "../vectors/generated-tables.mjs";

const { base32, base36, base58, base62, base64url, bwmarrinBase32, bwmarrinBase58, bytes, crockford, customForm, hex } =
  text;
const forms = { hex, base32, crockford, base36, base58, base62, base64url, bwmarrinBase32, bwmarrinBase58 };
/** The rule about a wrong digit of each form. */
const digitRules = {
  base64url: rules.TEXT_BASE64_URL,
  bwmarrinBase32: `${rules.TEXT_ALPHABET}\nThe alphabet is ${bwmarrinBase32.alphabet}`,
  bwmarrinBase58: `${rules.TEXT_ALPHABET}\nThe alphabet is ${bwmarrinBase58.alphabet}`,
};
const ascends = (alphabet) => [...alphabet].toSorted().join("") === alphabet;
const MAX = 2n ** 64n - 1n;
const tweet = 1541815603606036480n;

/** Every form, with its name, the least width of a text, and the rule about a wrong length. */
const kinds = Object.entries(forms).flatMap(([name, form]) => {
  const { alphabet, width } = form;
  // Eleven digits of six bits have two bits more than an ID.
  const times = name === "base64url" ? 4n : 1n;
  const fixed = { name, form, alphabet, width, times, least: width, length: `must have ${width} characters` };
  const short = { ...fixed, name: `${name}.short`, form: form.short, least: 1 };
  return [fixed, { ...short, length: `must have 1 to ${width} characters` }];
});

/** The digits of an ID, by dividing a bigint. */
function model({ alphabet, least, times = 1n }, id) {
  const base = BigInt(alphabet.length);
  let digits = "";
  for (let rest = id * times; rest > 0n; rest /= base) digits = alphabet[Number(rest % base)] + digits;
  return digits.padStart(least, alphabet[0]);
}

/** IDs of every length, the same each time. */
function* randomIds(count) {
  let state = 88172645463325252n;
  for (let at = 0; at < count; at++) {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    yield state >> BigInt(at % 64);
  }
}

/** Throws if a form encodes an ID differently from the model, or does not decode that text. */
function checkIds(kind, ids) {
  for (const id of ids) {
    const expected = model(kind, id);
    assert.equal(kind.form.encode(id), expected, `${kind.name}: ${id}`);
    assert.equal(kind.form.decode(expected), id, `${kind.name}: ${expected}`);
  }
}

function thrown(call) {
  try {
    return assert.fail(`not refused: ${inspect(call())}`);
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    return error;
  }
}

/** Checks that the call is refused with exactly these fields. */
function checkRefused(call, expected) {
  const error = thrown(call);
  const { message, code, value } = error;
  // Where the value is an object, it is not enumerable.
  const { rule, ...others } = expected;
  const all = { retryable: false, ...others, ...ruled(rule) };
  assert.deepEqual({ ...error, code, ...("value" in error && { value }) }, all);
  assert.ok(message.startsWith(messageOf(all, "")), message);
}

for (const kind of kinds) {
  test(`${kind.name}: random IDs are encoded and decoded as by the model`, () => checkIds(kind, randomIds(5000)));

  test(`${kind.name}: the first three digits are right on both sides of every ID where they change`, () => {
    // Rounding keeps the order, so the digits are right for every ID between.
    const unit = BigInt(kind.alphabet.length) ** BigInt(kind.width - 3) / kind.times;
    for (let id = 0n; id <= MAX; id += unit) {
      assert.equal(kind.form.decode(kind.form.encode(id)), id);
      if (id > 0n) assert.equal(kind.form.decode(kind.form.encode(id - 1n)), id - 1n);
    }
    checkIds(kind, [unit - 1n, unit, (MAX / unit) * unit - 1n, (MAX / unit) * unit]);
  });

  test(`${kind.name}: encode accepts IDs of every type, and refuses others with INVALID_ID`, () => {
    for (const id of [tweet, "1541815603606036480"]) assert.equal(kind.form.encode(id), model(kind, tweet));
    for (const id of [12, "12", 12n]) assert.equal(kind.form.encode(id), model(kind, 12n));
    const range = `must be an ID from 0 to ${MAX}`;
    for (const [rule, inputs] of [
      [range, [-1, -1n, 2n ** 64n, "18446744073709551616", -(2n ** 63n)]],
      [rules.ID_TEXT, ["", "012", " 1", "-1", "1n", "0x10"]],
      [`${rules.ID_TEXT}\nIs it base62 or hex? frazil/text reads it.`, ["1ptWyK4WgZU", "deadbeef0123"]],
      [`${rules.ID_INPUT}\nJSON.parse loses digits above, so keep IDs as text.`, [2 ** 53, Number(tweet)]],
      [rules.ID_INPUT, [1.5, Number.NaN, null, undefined, true, Symbol("1"), () => 1n]],
      [
        `${rules.ID_INPUT}\nPass its id. For many, use decodeMany or encodeMany.`,
        [{}, { id: 1n }, new Date(0), new Map(), [1n], new Uint8Array(8)],
      ],
    ]) {
      for (const value of inputs) {
        const error = { code: "INVALID_ID", field: "id", value, rule };
        checkRefused(() => kind.form.encode(value), error);
        checkRefused(() => kind.form.encodeMany([1n, value, -1n]), { ...error, field: "ids[1]", index: 1 });
      }
    }
    assert.ok(thrown(() => kind.form.encode(-1n)) instanceof DecodeError);
  });

  test(`${kind.name}: a text that is no ID is INVALID_TEXT, with the position of the mistake, alone and among many`, () => {
    const { alphabet, form, length, width } = kind;
    // Its short text must be as long as its fixed one.
    const id = alphabet.length === 36 ? 2n ** 63n : tweet;
    const full = model(kind, id);
    const [name] = kind.name.split(".");
    const digit = digitRules[name] ?? rules[`TEXT_${name.toUpperCase()}`];
    const wrong = [
      [`${full.slice(0, 3)}+${full.slice(4)}`, digit, 3],
      [`${full}${full}`, length, width],
      [" ", digit, 0],
      ["", length, 0],
      ...[1, 1n, null, undefined, {}, [full], ["0", "1"], new String(full), Symbol("1")].map((value) => [
        value,
        rules.TEXT_STRING,
      ]),
    ];
    if (kind.times === 4n) wrong.push([`${full.slice(0, -1)}B`, rules.TEXT_BASE64_URL_END, width - 1]);
    else if (alphabet.length !== 16) wrong.push([alphabet.at(-1).repeat(width), `must be an ID from 0 to ${MAX}`, 0]);
    wrong.push(kind.least === 1 ? [`${alphabet[0]}${full}`, rules.TEXT_ZEROS, 0] : [full.slice(1), length, width - 1]);
    for (const [value, rule, position] of wrong) {
      const error = { code: "INVALID_TEXT", field: "text", value, rule, ...(position !== undefined && { position }) };
      checkRefused(() => form.decode(value), error);
      assert.equal(form.tryDecode(value), undefined);
      const many = { ...error, field: "texts[2]", index: 2 };
      checkRefused(() => form.decodeMany([full, full, value, ""]), many);
    }
    assert.ok(thrown(() => form.decode("")) instanceof DecodeError);
    assert.equal(form.tryDecode(full), id);
  });

  test(`${kind.name}: many IDs and many texts are converted as single ones`, () => {
    const { form } = kind;
    const ids = BigUint64Array.from(randomIds(100));
    const texts = Array.from(ids, (id) => model(kind, id));
    const theirs = runInNewContext("BigUint64Array").from(ids);
    const inner = new BigUint64Array([0n, ...ids]).subarray(1);
    for (const given of [ids, [...ids], Array.from(ids, String), Object.freeze([...ids]), theirs, inner]) {
      assert.deepEqual(form.encodeMany(given), texts);
    }
    assert.deepEqual(form.decodeMany(texts), ids);
    assert.deepEqual([form.encodeMany([]), form.decodeMany([])], [[], new BigUint64Array()]);
    for (const value of [
      undefined,
      null,
      1n,
      "12",
      {},
      { length: 1 },
      new Uint8Array(8),
      new BigInt64Array(1),
      new Set([1n]),
    ]) {
      const error = { code: "INVALID_ARGUMENT", field: "ids", value, rule: rules.TEXT_IDS };
      checkRefused(() => form.encodeMany(value), error);
      const theirs = { ...error, field: "texts", rule: rules.TEXT_STRINGS };
      checkRefused(() => form.decodeMany(value), theirs);
    }
    checkRefused(() => form.decodeMany(ids), {
      code: "INVALID_ARGUMENT",
      field: "texts",
      value: ids,
      rule: rules.TEXT_STRINGS,
    });
    checkRefused(() => form.encodeMany(Array(2)), {
      code: "INVALID_ID",
      field: "ids[0]",
      value: undefined,
      rule: rules.ID_INPUT,
      index: 0,
    });
    assert.ok(thrown(() => form.encodeMany(1)) instanceof ConfigError);
  });
}

test("the checker catches a wrong digit, a wrong carry and a wrong reader", () => {
  const [kind] = kinds.filter(({ name }) => name === "base62");
  const ids = [...randomIds(100)];
  const mutant = (changes) => ({ ...kind, form: { ...base62, ...changes } });
  // A frequent mistake: an ID as a `number`.
  const rounded = (id) => model(kind, BigInt(Number(id)) & MAX);
  assert.throws(() => checkIds(mutant({ encode: rounded }), ids), /base62: \d+/);
  // Lower case first, as in the other common alphabet of base 62.
  const swapped = (id) =>
    base62.encode(id).replaceAll(/[a-z]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
  assert.throws(() => checkIds(mutant({ encode: swapped }), ids), /base62: \d+/);
  assert.throws(
    () => checkIds(mutant({ decode: (digits) => BigInt.asUintN(63, base62.decode(digits)) }), ids),
    /base62: \w+/,
  );
  checkIds(mutant({}), ids);
});

test("bytes and fixed texts whose alphabet ascends sort like their IDs, and other texts do not", () => {
  const ids = [...randomIds(2000)].sort((a, b) => (a < b ? -1 : Number(a > b)));
  for (const { name, form, alphabet, least } of kinds) {
    const texts = ids.map((id) => form.encode(id));
    assert.equal(JSON.stringify(texts.toSorted()) === JSON.stringify(texts), least > 1 && ascends(alphabet), name);
  }
  const keys = ids.map((id) => Buffer.from(bytes.encode(id)));
  assert.deepEqual(keys.toSorted(Buffer.compare), keys);
});

test("an ID has eight bytes, the most significant first, in a new array", () => {
  const made = bytes.encode(tweet);
  assert.deepEqual(made, Uint8Array.of(0x15, 0x65, 0xa1, 0x1f, 0x62, 0x17, 0xa0, 0));
  assert.equal(made.buffer.byteLength, 8);
  bytes.encode(1n);
  assert.equal(bytes.decode(made), tweet);
  const within = Buffer.concat([Buffer.from([1]), made, Buffer.from([1])]);
  assert.equal(bytes.decode(within.subarray(1, 9)), tweet);
  assert.equal(bytes.decode(runInNewContext("Uint8Array").from(made)), tweet);
  for (const id of randomIds(500)) {
    assert.equal(Buffer.from(bytes.encode(id)).toString("hex"), hex.encode(id));
    assert.equal(bytes.decode(bytes.encode(id)), id);
  }
  checkRefused(() => bytes.encode(-1), {
    code: "INVALID_ID",
    field: "id",
    value: -1,
    rule: `must be an ID from 0 to ${MAX}`,
  });
});

test("the bytes of many IDs are those of each ID in turn", () => {
  const ids = BigUint64Array.from(randomIds(100));
  const before = ids.slice();
  const all = bytes.encodeMany(ids);
  assert.deepEqual(ids, before, "the array of the caller must not change");
  assert.equal(Buffer.from(all).toString("hex"), hex.encodeMany(ids).join(""));
  assert.deepEqual(bytes.encodeMany([...ids]), all);
  assert.deepEqual(bytes.decodeMany(all), ids);
  assert.deepEqual(bytes.decodeMany(all.subarray(8, 24)), ids.slice(1, 3));
  assert.deepEqual(
    [bytes.encodeMany([]), bytes.decodeMany(new Uint8Array())],
    [new Uint8Array(), new BigUint64Array()],
  );
  const refused = { code: "INVALID_ID", field: "ids[1]", value: null, rule: rules.ID_INPUT, index: 1 };
  checkRefused(() => bytes.encodeMany([1, null]), refused);
});

test("a value that is not the bytes of an ID is INVALID_TEXT", () => {
  const refused = (call, value, rule, position) =>
    checkRefused(call, {
      code: "INVALID_TEXT",
      field: "bytes",
      value,
      rule,
      ...(position !== undefined && { position }),
    });
  for (const value of [
    null,
    undefined,
    8,
    "01234567",
    [1, 2, 3, 4, 5, 6, 7, 8],
    new ArrayBuffer(8),
    new BigUint64Array(1),
  ]) {
    refused(() => bytes.decode(value), value, rules.TEXT_BYTES);
    refused(() => bytes.decodeMany(value), value, rules.TEXT_MANY_BYTES);
    assert.equal(bytes.tryDecode(value), undefined);
  }
  for (const [length, position] of [
    [0, 0],
    [7, 7],
    [9, 8],
    [16, 8],
  ]) {
    const value = new Uint8Array(length);
    refused(() => bytes.decode(value), value, rules.TEXT_BYTES, position);
  }
  for (const length of [1, 7, 9, 15]) {
    const value = new Uint8Array(length);
    refused(() => bytes.decodeMany(value), value, rules.TEXT_MANY_BYTES, length);
  }
  for (const value of [undefined, 8n, "12", new Uint8Array(8)]) {
    const error = { code: "INVALID_ARGUMENT", field: "ids", value, rule: rules.TEXT_IDS };
    checkRefused(() => bytes.encodeMany(value), error);
  }
});

test("every function works detached from its form, and as a callback of map", () => {
  for (const { form } of [...kinds, { form: bytes }]) {
    const { encode, decode, tryDecode, encodeMany, decodeMany } = form;
    const ids = [0n, 1n, tweet];
    const made = ids.map(encode);
    assert.deepEqual(made.map(decode), ids);
    assert.deepEqual(made.map(tryDecode), ids);
    assert.deepEqual([...decodeMany(encodeMany(ids))], ids);
  }
});

test("the form objects are shared between entries and frozen", () => {
  assert.deepEqual(Object.keys(text).sort(), [
    "DecodeError",
    "FrazilError",
    "base32",
    "base36",
    "base58",
    "base62",
    "base64url",
    "bwmarrinBase32",
    "bwmarrinBase58",
    "bytes",
    "crockford",
    "customForm",
    "hex",
  ]);
  for (const form of [...kinds.map(({ form }) => form), bytes]) assert.ok(Object.isFrozen(form));
  assert.throws(() => {
    base62.encode = String;
  }, TypeError);
});

test("IDs of generators and layouts can be encoded, and decoded texts can be decoded by a layout", () => {
  const ids = new Snowflake({ node: 7, now: () => 1_780_000_000_000 });
  const links = base58.short.encodeMany(ids.nextMany(10));
  const read = base58.short.decodeMany(links);
  assert.deepEqual(
    Layout.named("default").decodeMany(read).sequence,
    Float64Array.from(links, (_, at) => at),
  );
  assert.deepEqual(hex.encodeMany(ids.fill(new BigUint64Array(2))).length, 2);
});

test("what a getter throws is the cause of the error", () => {
  const own = new RangeError("mine");
  const ids = Object.defineProperty([1n], 0, {
    get() {
      throw own;
    },
  });
  assert.throws(() => base62.encodeMany(ids), { code: "INVALID_ARGUMENT", field: "ids", cause: own });
});

test("an error names the text, and can be logged", () => {
  const error = thrown(() => base62.decodeMany(["1ptWyK4WgZU", "1ptWyK4W-ZU"]));
  assert.equal(`${error}`, `DecodeError: INVALID_TEXT: texts[1] ${rules.TEXT_BASE62}, got "1ptWyK4W-ZU"`);
  const { name, message, code, retryable, field, value, rule, position, index } = JSON.parse(JSON.stringify(error));
  assert.deepEqual([name, message, code, retryable], ["DecodeError", error.message, "INVALID_TEXT", false]);
  assert.deepEqual([field, value, rule], ["texts[1]", '"1ptWyK4W-ZU"', rules.TEXT_BASE62]);
  assert.deepEqual([position, index], [8, 1]);
});

test("ESM import and CommonJS require give the same texts, and each recognises the errors of the other", () => {
  const required = createRequire(import.meta.url)("frazil/text");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(text).sort());
  for (const name of Object.keys(forms)) assert.equal(required[name].encode(tweet), forms[name].encode(tweet));
  assert.ok(thrown(() => required.base62.decode("")) instanceof text.DecodeError);
});

test("crockford reads lower case, I and L as 1 and O as 0, and writes what base32 writes", () => {
  const looks = { 0: "0Oo", 1: "1IiLl" };
  let at = 0;
  const typed = (digit) => (looks[digit] ?? digit + digit.toLowerCase()).at(at++ % (looks[digit]?.length ?? 2));
  for (const id of randomIds(2000)) {
    const written = base32.encode(id);
    assert.equal(crockford.encode(id), written);
    const text = [...written].map(typed).join("");
    assert.equal(crockford.decode(text), id, text);
    if (text !== written) assert.equal(base32.tryDecode(text), undefined);
  }
  for (const text of ["0", "o", "O"]) assert.equal(crockford.short.decode(text), 0n);
  assert.equal(thrown(() => crockford.short.decode("o1")).rule, rules.TEXT_ZEROS);
});

test("base64url is what Buffer makes of the eight bytes, and reads nothing else that Buffer reads", () => {
  for (const id of randomIds(2000)) {
    const text = Buffer.from(bytes.encode(id)).toString("base64url");
    assert.equal(base64url.encode(id), text);
    assert.equal(base64url.decode(text), id);
    for (const last of "AEIMQUYcgkosw048".replace(text.at(-1), ""))
      assert.notEqual(base64url.decode(text.slice(0, -1) + last), id);
  }
  assert.equal(Buffer.from("AAAAAAAAAAB", "base64url").readBigUInt64BE(), 0n);
  assert.equal(base64url.tryDecode("AAAAAAAAAAB"), undefined);
});

test("base36.short is what toString(36) writes", () => {
  for (const id of randomIds(2000)) assert.equal(base36.short.encode(id), id.toString(36));
});

test("a text of bwmarrin is another ID in the forms of the same name, without an error", () => {
  assert.equal(bwmarrinBase58.short.decode("4jgmnx8Js8A"), 1428076403798048768n);
  assert.notEqual(base58.decode("4jgmnx8Js8A"), 1428076403798048768n);
  const text = bwmarrinBase32.encode(0x1234n);
  assert.notEqual(crockford.tryDecode(text), 0x1234n);
});

test("a custom form of any base writes and reads as the model", () => {
  const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join("");
  for (let base = 2; base <= printable.length; base++) {
    // Not in order, so that the alphabet is what counts.
    const alphabet = [...printable.slice(94 - base)].reverse().join("");
    const form = customForm(alphabet);
    const width = (2n ** 64n - 1n).toString(Math.min(base, 36)).length;
    if (base <= 36) assert.equal(form.width, width);
    const kind = { name: `base ${base}`, form, alphabet, least: form.width };
    assert.equal(model({ ...kind, least: 1 }, MAX).length, form.width);
    const ids = [0n, 1n, MAX, MAX - 1n, ...randomIds(200)];
    checkIds(kind, ids);
    checkIds({ ...kind, form: form.short, least: 1 }, ids);
    const into = new Uint8Array(ids.length * form.width);
    form.encodeInto(BigUint64Array.from(ids), into);
    assert.equal(Buffer.from(into).toString(), ids.map((id) => model(kind, id)).join(""));
    const large = thrown(() =>
      form.decode(base === 2 || base === 4 || base === 16 ? " " : alphabet.at(-1).repeat(form.width)),
    );
    assert.equal(large.code, "INVALID_TEXT");
  }
  assert.equal(customForm(base62.alphabet).encode(tweet), base62.encode(tweet));
  assert.ok(Object.isFrozen(customForm("01")));
});

test("a wrong digit of a custom form is refused with the alphabet, as it was given", () => {
  for (const alphabet of ["01", "$&", "{max}", "a{min}b", "1$'`"]) {
    const form = customForm(alphabet);
    const full = form.encode(0n);
    const error = {
      code: "INVALID_TEXT",
      field: "text",
      value: "~",
      rule: `${rules.TEXT_ALPHABET}\nThe alphabet is ${alphabet}`,
      position: 0,
    };
    checkRefused(() => form.decode("~"), error);
    checkRefused(() => form.decodeMany([full, "~"]), { ...error, field: "texts[1]", index: 1 });
  }
});

test("an alphabet that is none is INVALID_ARGUMENT", () => {
  for (const value of [
    undefined,
    null,
    62,
    "",
    "0",
    "00",
    "0120",
    "01 ",
    " 01",
    "01\n",
    "01\u007f",
    "01é",
    "0\u{1f642}",
    ["0", "1"],
    new String("01"),
  ]) {
    checkRefused(() => customForm(value), { code: "INVALID_ARGUMENT", field: "alphabet", value, rule: rules.ALPHABET });
  }
});

test("bytes with properties of their own, or whose memory was transferred, are read by what they are, or refused", () => {
  const eight = bytes.encode(62n);
  const lying = (length, real) => Object.defineProperties(new Uint8Array(real), { length: { value: length } });
  assert.equal(bytes.decode(Object.defineProperty(eight.slice(), "length", { value: 3 })), 62n);
  const moved = Object.defineProperties(bytes.encodeMany([62n, 63n]), {
    length: { value: 8 },
    buffer: { value: new ArrayBuffer(64) },
    byteOffset: { value: 8 },
  });
  assert.deepEqual([...bytes.decodeMany(moved)], [62n, 63n]);
  const detached = new Uint8Array(16);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  for (const wrong of [lying(8, 16), lying(8, 3), detached])
    assert.throws(() => bytes.decode(wrong), { code: "INVALID_TEXT", field: "bytes" });
  for (const wrong of [lying(8, 3), lying(16, 15), detached])
    assert.throws(() => bytes.decodeMany(wrong), { code: "INVALID_TEXT", field: "bytes" });
  assert.equal(bytes.tryDecode(lying(8, 9)), undefined);
  assert.deepEqual(bytes.decodeMany(new Uint8Array(0)), new BigUint64Array(0));
});
