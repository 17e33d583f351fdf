// The packages that hide a number in a text, and that write a UUID. `inputOf`: what they are given for an ID.
import Hashids from "hashids";
import Sqids from "sqids";
import { parse, stringify } from "uuid";

const sqids = new Sqids({ minLength: 11 });
const hashids = new Hashids("a salt of the bench", 11);

export const TEXTS = {
  // It takes no number above 2^53 - 1.
  "sqids, of 53 bits": {
    inputOf: (id) => Number(id >> 10n),
    encode: (number) => sqids.encode([number]),
    decode: (text) => sqids.decode(text)[0],
  },
  hashids: { inputOf: (id) => id, encode: (id) => hashids.encode(id), decode: (text) => hashids.decode(text)[0] },
  "uuid, which hides nothing": {
    inputOf: (id) =>
      Uint8Array.from({ length: 16 }, (_, at) =>
        at === 6 ? 0x70 : at === 8 ? 0x80 : Number((id >> BigInt(8 * (at % 8))) & 255n),
      ),
    encode: stringify,
    decode: parse,
  },
};
