// Typed IDs and `frazil/text`: the same digits, the same order, one text for each ID. Each check finds a variant that breaks it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Layout } from "frazil/layout";
import * as text from "frazil/text";
import { defineId } from "frazil/typed";

const MAX = 2n ** 64n - 1n;
const UserId = defineId("usr", { layout: "discord" });
const forms = Object.entries(text).filter(([name, form]) => form?.width && name !== "base64url");

/** IDs of each width, the edges of digits and parts, and random ones. */
const edges = [62n, 62n ** 5n, 62n ** 6n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n];
const near = [...edges, ...Array.from({ length: 64 }, (_, bits) => 2n ** BigInt(bits))].flatMap((n) => [
  n - 1n,
  n,
  n + 1n,
]);
const random = Array.from({ length: 20_000 }, (_, at) => randomBytes(8).readBigUInt64BE() >> BigInt(at % 64));
const ids = [...near.filter((id) => id <= MAX), ...random];

/** The first ID whose text is not as `frazil/text` writes it, or is not read as the ID. */
const firstWrong = ({ format, parse }, form, head) =>
  ids.find((id) => format(id) !== head + form.encode(id) || parse(head + form.encode(id)) !== id);

test("the default writes and reads what base62 of frazil/text does", () => {
  assert.equal(firstWrong(UserId, text.base62, "usr_"), undefined);
  const short = { ...UserId, format: (id) => `usr_${text.base62.short.encode(id)}` };
  const rounding = { ...UserId, parse: (typed) => BigInt(Number(UserId.parse(typed))) };
  for (const broken of [short, rounding]) assert.notEqual(firstWrong(broken, text.base62, "usr_"), undefined);
});

for (const [name, form] of [...forms, ["an alphabet that patterns must escape", text.customForm("\\]^-[$.*")]]) {
  test(`${name}: written and read as by frazil/text, and by the pattern`, () => {
    const Typed = defineId("usr", { form, layout: "discord" });
    assert.equal(firstWrong(Typed, form, "usr_"), undefined);
    const { pattern } = Typed.jsonSchema;
    for (const flags of ["", "u", "v"].slice(0, name.startsWith("an alphabet") ? 2 : 3)) {
      const expression = new RegExp(pattern, flags);
      for (const id of near.filter((id) => id <= MAX)) assert.ok(expression.test(Typed.format(id)));
      for (const wrong of [" ", "_", "\u00e9"])
        assert.ok(!expression.test(`usr_${wrong.padEnd(form.width, form.alphabet[0])}`));
    }
  });
}

/** Texts with one character changed: each place, with each character of ASCII. */
function* changed(typed) {
  for (let at = 0; at < typed.length; at++)
    for (let code = 0; code < 128; code++) {
      const other = typed.slice(0, at) + String.fromCharCode(code) + typed.slice(at + 1);
      if (other !== typed) yield other;
    }
}

/** The first text that is read although it is not what is written for its ID. */
function secondText({ format, safeParse }) {
  for (const id of [5n, 2n ** 63n, MAX])
    for (const other of changed(format(id))) {
      const { success, data } = safeParse(other);
      if (success && format(data) !== other) return other;
    }
  return undefined;
}

test("an ID has one text, in each form", () => {
  for (const [, form] of forms) assert.equal(secondText(defineId("usr", { form, layout: "discord" })), undefined);
  assert.equal(secondText(UserId), undefined);
  const reads = (parse) => ({ format: UserId.format, safeParse: (typed) => UserId.safeParse(parse(typed)) });
  const folding = reads((typed) => `usr${typed.slice(3)}`);
  const replacing = reads((typed) => typed.replace("O", "0"));
  for (const broken of [folding, replacing]) assert.notEqual(secondText(broken), undefined);
});

/** The first pair of neighbours whose texts are not in the order of the IDs. */
function unsorted(format, compare = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) {
  const sorted = [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1));
  const at = sorted.findIndex((id, index) => index > 0 && compare(format(sorted[index - 1]), format(id)) >= 0);
  return at < 0 ? undefined : sorted[at];
}

test("texts sort bytewise as the IDs do", () => {
  for (const form of [undefined, text.base62, text.hex, text.base32, text.crockford, text.base36, text.base58])
    assert.equal(unsorted(defineId("usr", { form, layout: "discord" }).format), undefined);
  const locale = (a, b) => a.localeCompare(b, "en");
  const caseless = (a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);
  for (const compare of [locale, caseless]) assert.notEqual(unsorted(UserId.format, compare), undefined);
  const broken = [
    String,
    text.base62.short.encode,
    defineId("usr", { form: text.bwmarrinBase58, layout: "discord" }).format,
  ];
  for (const format of broken) assert.notEqual(unsorted(format), undefined);
});

test("a collation without case makes two IDs equal", () => {
  const texts = ["usr_0000000000A", "usr_0000000000a"];
  const [upper, lower] = texts.map(UserId.parse);
  assert.notEqual(upper, lower);
  const compared = (sensitivity, texts) => new Intl.Collator("en", { sensitivity }).compare(...texts);
  assert.equal(compared("base", texts), 0);
  assert.notEqual(compared("case", texts), 0);
  const { format } = defineId("usr", { form: text.crockford });
  assert.notEqual(compared("base", [upper, lower].map(format)), 0);
});

test("decimal text of the default layout stops sorting in 2031", () => {
  const first = 10n ** 18n; // of 19 digits
  assert.equal(Layout.named("default").decode(first).date.toISOString(), "2031-07-22T11:22:59.101Z");
  assert.ok(`${first}` < `${first - 1n}`);
});
