// The packages that hide a number in a text, and that write a UUID. `inputOf`: what they are given for an ID.
import Hashids from "hashids";
import Optimus from "optimus-js";
import Sqids from "sqids";
import { TypeID } from "typeid-js";
import { parse, stringify } from "uuid";

const sqids = new Sqids({ minLength: 11 });
const hashids = new Hashids("a salt of the bench", 11);
/** A prime, its inverse modulo 2^31, and a random number: those of its README. */
const optimus = new Optimus(1580030173, 59260789, 1163945558);

/** The bytes of an ID as those of a UUIDv7. */
const uuidOf = (id) =>
  Uint8Array.from({ length: 16 }, (_, at) =>
    at === 6 ? 0x70 : at === 8 ? 0x80 : Number((id >> BigInt(8 * (at % 8))) & 255n),
  );

/** The same packages as their READMEs make them, for texts that nobody encoded: all numbers of a text, and the text of numbers. */
export const DEFAULTS = {
  sqids: { inputOf: (id) => Number(id >> 10n), ids: new Sqids() },
  hashids: { inputOf: (id) => id, ids: new Hashids("a salt of the bench") },
};

export const TEXTS = {
  // It takes no number above 2^53 - 1.
  "sqids, of 53 bits": {
    inputOf: (id) => Number(id >> 10n),
    encode: (number) => sqids.encode([number]),
    decode: (text) => sqids.decode(text)[0],
  },
  hashids: { inputOf: (id) => id, encode: (id) => hashids.encode(id), decode: (text) => hashids.decode(text)[0] },
  "optimus-js, of 31 bits": {
    inputOf: (id) => Number(id & 0x7fff_ffffn),
    encode: (number) => `${optimus.encode(number)}`,
    decode: (text) => optimus.decode(Number(text)),
  },
  "uuid, which hides nothing": { inputOf: uuidOf, encode: stringify, decode: parse },
  "typeid-js, which hides nothing": {
    inputOf: (id) => stringify(uuidOf(id)),
    encode: (uuid) => TypeID.fromUUID("usr", uuid).toString(),
    decode: (text) => TypeID.fromString(text, "usr").toUUID(),
  },
};
