// The possible forms of a text, and the hint of `decode` for a text without decimal digits: both by one rule.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import * as forms from "frazil/text";
import { load } from "../vectors/generated-tables.mjs";

const { likelyForms, otherKind } = await load("texts", "likely");

/** As the command line and the decoder of the site read it. */
const read = (name, text) => (text.length < forms[name].width ? forms[name].short : forms[name]).tryDecode(text);

/** The hint of `decode`. */
function hintOf(text) {
  try {
    return Layout.named("mastodon").decode(text) && "decoded";
  } catch (error) {
    return error.hint;
  }
}

const IS_IT = "Is it base62 or hex? frazil/text reads it.";
const NAMES = ["hex", "base62", "base58", "base32", "base36", "crockford", "base64url"];

/** IDs of `default`, of 2024 to 2033, and of Twitter's of 2022. */
const IDS = Array.from(
  { length: 300 },
  (_, at) => 4_000_000_000_000_007n * BigInt(at + 1) + 1541815603606036480n * BigInt(at % 2),
);

test("a text that a form reads gets a hint, and is likely in that form", () => {
  let count = 0;
  for (const name of NAMES)
    for (const form of [forms[name], forms[name].short])
      for (const text of IDS.map(form.encode)) {
        // Digits alone may be a decimal ID, and base 64 may look like words.
        if (/^\d+$|[-_]/.test(text)) continue;
        count++;
        assert.equal(hintOf(text), IS_IT, `${name}: ${text}`);
        assert.ok(likelyForms(text, read).includes(name), `${name}: ${text}`);
      }
  assert.ok(count > 3000, `${count}`);
});

test("a text that no form reads gets no hint", () => {
  for (const text of [
    "hello_world",
    "order_12345",
    "ids.txt",
    "discord",
    "a1b2c3",
    "internationally",
    "1565a11f6217a00g",
    "deadbeefdeadbeef0",
    "-1541815603606036480",
    "01541815603606036480",
    "1,541,815",
  ]) {
    assert.equal(hintOf(text), undefined, text);
    assert.deepEqual(likelyForms(text, read), [], text);
  }
});

test("capital letters of hex are mended after the hint, by the error of hex", () => {
  assert.equal(hintOf("1565A11F6217A000"), IS_IT);
  assert.throws(() => forms.hex.decode("1565A11F6217A000"), /in lower case/);
});

test("what else a text is", () => {
  const uuid = "018f4d3c-8d1e-7000-8000-000000000000";
  assert.equal(otherKind(uuid), "That is a UUID (128 bits), not a Snowflake ID.");
  assert.equal(hintOf(uuid), otherKind(uuid));
  assert.match(otherKind("1.5418156036060365e+18"), /JavaScript number/);
  assert.equal(otherKind("1ptWyK4WgZU"), undefined);
});
