// Generators that are wrong on purpose, one for each way to repeat an ID. Every uniqueness test runs its twin through the
// same checker, which must find the repeats: a checker that cannot fail proves nothing.

/** How many of the IDs stand in the list more than once. */
export const repeats = (ids) => ids.length - new Set(ids).size;

const word = (ms, sequence) => (BigInt(ms) << 22n) | (7n << 12n) | BigInt(sequence & 0xfff);

/** Masks a full sequence instead of waiting or borrowing (seen in @sapphire/snowflake and snowyflake). */
export function wrapping(now = Date.now) {
  let sequence = 0;
  return () => word(now(), sequence++);
}

/** Starts the sequence anew whenever the time changes, forward or back (twitter-archive/snowflake#6). */
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
