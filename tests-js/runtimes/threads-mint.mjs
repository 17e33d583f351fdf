// What each thread of `threads-main.mjs` does.

/** Mints with three generators: returns of each whether it minted, or the code of the refusal. */
export async function mint(entry) {
  const { Snowflake } = await import(entry);
  const outcome = (options) => {
    try {
      return typeof new Snowflake({ node: 5, ...options }).next();
    } catch ({ code }) {
      return code;
    }
  };
  return { shared: outcome({}), unshared: outcome({ unshared: true }), simulated: outcome({ now: Date.now }) };
}
