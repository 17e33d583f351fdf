// Checks the vectors of public IDs, as `check.mjs` those of the rest.
import { Cases, equal, refused } from "./check.mjs";

const bytesOf = (hexadecimal) => Uint8Array.from(hexadecimal.match(/../g), (byte) => Number.parseInt(byte, 16));

/** The error of a text that is refused. */
const OF_TEXT = { code: "INVALID_TEXT", field: "text" };

/** `public.json`: keys, both forms in both directions, rotation, and what is refused. */
export function checkPublic({ publicIds }, vectors) {
  const cases = new Cases();
  const keyOf = (name) => vectors.keys.find((key) => key.name === name);
  const short = (keys) => ({ form: "short", keys });
  /** The options of a case; keys as text in one case and as bytes in the next. */
  let count = 0;
  const optionsOf = ({ kind, layout, keys, key, slot }) => {
    const given = (name) => {
      const { key, text } = keyOf(name);
      return count++ % 2 ? bytesOf(key) : text;
    };
    const named = keys ?? (slot === undefined ? [key] : [{ slot, key }]);
    const form =
      named[0].slot === undefined
        ? { keys: named.map(given) }
        : short(named.map(({ slot, key }) => ({ slot, key: given(key) })));
    return { kind, layout, ...form };
  };
  for (const { key, text, fingerprint } of vectors.keys) {
    for (const [given, how] of [
      [text, "its text"],
      [bytesOf(key), "its bytes"],
    ]) {
      cases.run(`the fingerprint of ${text} by ${how}`, () => {
        const expected = [fingerprint];
        equal(publicIds({ kind: "user", keys: [given] }).fingerprints, expected, "fingerprints");
        equal(publicIds({ kind: "user", ...short([{ slot: 0, key: given }]) }).fingerprints, expected, "fingerprints");
      });
    }
  }
  for (const row of [...vectors.sealed, ...vectors.short]) {
    cases.run(
      `${row.slot === undefined ? "sealed" : "short"} ${row.kind} ${row.id} of ${row.layout} by ${row.key}`,
      () => {
        const ids = publicIds(optionsOf(row));
        equal(ids.encode(BigInt(row.id)), row.text, "encode");
        equal(ids.encode(row.id), row.text, "encode of decimal text");
        equal(ids.decode(row.text), BigInt(row.id), "decode");
      },
    );
  }
  for (const row of vectors.rotated)
    cases.run(`rotated: ${row.text}`, () =>
      equal(publicIds(optionsOf(row)).decode(row.text), BigInt(row.id), "decode"),
    );
  for (const row of [...vectors.refusedSealed, ...vectors.refusedShort]) {
    cases.run(`refused: ${row.name}`, () => {
      const { position } = refused(OF_TEXT, () => publicIds(optionsOf(row)).decode(row.text));
      equal(position !== undefined, row.why === "length" || row.why === "digit", "whether it has a position");
    });
  }
  for (const { name, text } of vectors.refusedKeys) {
    cases.run(`refused key: ${name}`, () => {
      const given = text?.bytes === undefined ? text : new Uint8Array(text.bytes);
      const error = refused({ code: "INVALID_OPTION", field: "keys[0]" }, () =>
        publicIds({ kind: "user", keys: [given] }),
      );
      const shown = JSON.stringify([error, `${error.stack}`, Object.keys(error)]);
      if ("value" in error || /4MHT|correct horse|sixteen|jzxR|8f3c/.test(shown))
        throw new Error(`it shows the key: ${shown}`);
    });
  }
  const keys = [vectors.keys[0].text];
  for (const kind of vectors.kinds)
    cases.run(`kind: ${kind}`, () => equal(publicIds({ kind, keys }).kind, kind, "kind"));
  for (const kind of vectors.refusedKinds)
    cases.run(`refused kind: "${kind}"`, () =>
      refused({ code: "INVALID_OPTION", field: "kind" }, () => publicIds({ kind, keys })),
    );
  return cases.done();
}
