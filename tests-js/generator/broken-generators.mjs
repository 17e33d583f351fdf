// Generators that are wrong on purpose, one for each way to repeat an ID. Every uniqueness test also runs such a mutant through its
// checker, which must find the repeats: a checker that cannot fail proves nothing.

/** How many of the IDs repeat another one in the list. */
export const repeats = (ids) => ids.length - new Set(ids).size;

const word = (ms, sequence) => (BigInt(ms) << 22n) | (7n << 12n) | BigInt(sequence & 0xfff);

/** Masks a full sequence instead of waiting or borrowing (found in @sapphire/snowflake and snowyflake). */
export function wrapping(now = Date.now) {
  let sequence = 0;
  return () => word(now(), sequence++);
}

/** Restarts the sequence whenever the time changes, forward or back (twitter-archive/snowflake#6). */
export function resetting(now = Date.now) {
  let last = 0;
  let sequence = 0;
  return () => {
    const ms = now();
    sequence = ms === last ? sequence + 1 : 0;
    last = ms;
    return word(ms, sequence);
  };
}
