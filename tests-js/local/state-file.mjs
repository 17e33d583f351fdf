// Reads and damages state files without the library. The format is the table in crates/local/src/disk.rs.
import { closeSync, openSync, readSync, writeSync } from "node:fs";

const BLOCK = 512;
/** The distance in bytes from a block to its copy. */
export const COPY_OFFSET = 16384;
/** The offsets of the blocks. */
export const HEADER = 0;
export const RECORDS = [4096, 8192];
/** The offset of the part that is mapped into memory. */
export const MAPPED_AT = 65536;
export const LENGTH = 2 * 65536;

const MASK = 2n ** 64n - 1n;
const rotate = (x, by) => ((x << by) | (x >> (64n - by))) & MASK;

/** SipHash-2-4 (Aumasson and Bernstein, 2012). */
export function sip(bytes, k0 = 0n, k1 = 0n) {
  let v0 = k0 ^ 0x736f6d6570736575n;
  let v1 = k1 ^ 0x646f72616e646f6dn;
  let v2 = k0 ^ 0x6c7967656e657261n;
  let v3 = k1 ^ 0x7465646279746573n;
  const round = () => {
    v0 = (v0 + v1) & MASK;
    v1 = rotate(v1, 13n) ^ v0;
    v0 = rotate(v0, 32n);
    v2 = (v2 + v3) & MASK;
    v3 = rotate(v3, 16n) ^ v2;
    v0 = (v0 + v3) & MASK;
    v3 = rotate(v3, 21n) ^ v0;
    v2 = (v2 + v1) & MASK;
    v1 = rotate(v1, 17n) ^ v2;
    v2 = rotate(v2, 32n);
  };
  const padded = Buffer.alloc((Math.floor(bytes.length / 8) + 1) * 8);
  padded.set(bytes);
  padded[padded.length - 1] = bytes.length & 0xff;
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at);
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  v2 ^= 0xffn;
  for (let rounds = 0; rounds < 4; rounds++) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

function block(path, at) {
  const bytes = Buffer.alloc(BLOCK);
  const file = openSync(path, "r");
  readSync(file, bytes, 0, BLOCK, at);
  closeSync(file);
  return bytes;
}

/** The numbers of a block, or `undefined` where its checksum is wrong. */
function numbers(path, at) {
  const bytes = block(path, at);
  if (bytes.readBigUInt64LE(BLOCK - 8) !== sip(bytes.subarray(0, BLOCK - 8))) return undefined;
  return Array.from({ length: BLOCK / 8 }, (_, index) => bytes.readBigUInt64LE(8 * index));
}

/** The valid records, the newest one first. */
export const records = (path) =>
  RECORDS.flatMap((at) => [at, at + COPY_OFFSET])
    .map((at) => ({ at, numbers: numbers(path, at) }))
    .filter(({ numbers }) => numbers?.[0] === Buffer.from("ceiling1").readBigUInt64LE())
    .map(({ at, numbers: [, number, ceilingMs] }) => ({ at, number: Number(number), ceilingMs: Number(ceilingMs) }))
    .sort((one, other) => other.number - one.number);

/** The ceiling on disk: until when time is reserved, in Unix milliseconds. */
export const ceilingOf = (path) => records(path)[0].ceilingMs;

/** The two halves of the key that sequence starts are computed from. */
export const keyOf = (path) => numbers(path, HEADER).slice(6, 8);

/** Offsets of numbers in the mapped part (the table in crates/local/src/mapped.rs). */
export const MAPPED_OFFSETS = {
  disk: MAPPED_AT + 24,
  number: MAPPED_AT + 40,
  superblock: MAPPED_AT + 48,
  windowEnd: MAPPED_AT + 136,
};

/** Writes a 64-bit number. */
export function overwrite(path, at, number) {
  const file = openSync(path, "r+");
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  writeSync(file, bytes, 0, 8, at);
  closeSync(file);
}

/** Flips a bit of a byte. */
export function flip(path, at) {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0] ^= 0x10;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** Copies a block from another file. */
export function copyBlock(from, at, path, to = at) {
  const file = openSync(path, "r+");
  writeSync(file, block(from, at), 0, BLOCK, to);
  closeSync(file);
}
