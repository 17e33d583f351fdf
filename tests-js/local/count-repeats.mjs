// Counts the IDs in files of 64-bit numbers, and how many of them repeat another.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const files = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".ids"))
    .map((name) => join(folder, name));

/** How many IDs the files of a folder hold. */
export const idsWritten = (folder) => files(folder).reduce((sum, file) => sum + Math.floor(statSync(file).size / 8), 0);

/** All IDs in the files of a folder. A process that was killed during a write can leave part of a number at the end. */
function readIds(folder) {
  const parts = files(folder)
    .map((file) => readFileSync(file))
    .map((bytes) => new BigUint64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8)));
  const ids = new BigUint64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    ids.set(part, at);
    at += part.length;
  }
  return ids;
}

export function countIds(folder) {
  const ids = readIds(folder).sort();
  let repeats = 0;
  for (let at = 1; at < ids.length; at++) if (ids[at] === ids[at - 1]) repeats++;
  return { issued: ids.length, repeats };
}
