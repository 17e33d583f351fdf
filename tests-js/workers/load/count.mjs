// Counts the IDs of a run, and those that repeat another. It runs in the process of the test, and knows nothing of leases.

/** `answers`: bytes of 64-bit numbers. */
export function countRepeats(answers) {
  const bytes = Buffer.concat(answers);
  const ids = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8).sort();
  let repeats = 0;
  for (let at = 1; at < ids.length; at++) if (ids[at] === ids[at - 1]) repeats++;
  return { ids: ids.length, repeats };
}
