// The types of `frazil/text`.
import {
  type ByteForm,
  base32,
  base36,
  base58,
  base62,
  base64url,
  bwmarrinBase32,
  bwmarrinBase58,
  bytes,
  crockford,
  type customForm,
  DecodeError,
  type ErrorCode,
  type FixedForm,
  FrazilError,
  hex,
  type IdInput,
  type TextForm,
} from "frazil/text";
import { check, type Equal } from "./equal.js";

for (const form of [hex, base32, base58, base62]) check<Equal<typeof form, FixedForm>>();
for (const form of [base36, base64url, crockford, bwmarrinBase32, bwmarrinBase58])
  check<Equal<typeof form, FixedForm>>();
check<Equal<typeof customForm, (alphabet: string) => FixedForm>>();
check<Equal<typeof base62.encodeInto, (ids: BigUint64Array, bytes: Uint8Array) => number>>();
check<Equal<typeof base62.short, TextForm>>();
check<Equal<typeof bytes, ByteForm>>();
check<Equal<Parameters<typeof base62.encode>, [id: IdInput]>>();
check<Equal<ReturnType<typeof base62.encode>, string>>();
check<Equal<ReturnType<typeof base62.decode>, bigint>>();
check<Equal<ReturnType<typeof base62.tryDecode>, bigint | undefined>>();
check<Equal<ReturnType<typeof base62.short.encodeMany>, string[]>>();
check<Equal<ReturnType<typeof base62.short.decodeMany>, BigUint64Array>>();
check<Equal<ReturnType<typeof bytes.encode>, Uint8Array>>();
check<Equal<ReturnType<typeof bytes.decodeMany>, BigUint64Array>>();
const { encode, decode } = base58.short;
const links: string[] = [1n, "2", 3].map(encode);
const ids: bigint[] = links.map(decode);
base62.encodeMany(new BigUint64Array(1));
base62.encodeMany(ids);
const positionOf = (error: unknown): number | undefined => (FrazilError.is(error) ? error.position : undefined);
const indexOf = (error: DecodeError): number | undefined => error.index;
const code: ErrorCode = "INVALID_TEXT";
// @ts-expect-error: a form reads text
base62.decode(5n);
// @ts-expect-error: a form does not change
base62.encode = String;
// @ts-expect-error: short texts have no width
base62.short.width;
// @ts-expect-error: an array of numbers has no IDs
base62.encodeMany(new Float64Array(1));
// @ts-expect-error: only typed arrays are written without a call for each ID
base62.encodeInto([1n], new Uint8Array(11));
// @ts-expect-error: short texts have no width, so they are not written into an array
base62.short.encodeInto;
// @ts-expect-error: bytes are a Uint8Array
bytes.decode(new ArrayBuffer(8));

export { code, DecodeError, indexOf, positionOf };
