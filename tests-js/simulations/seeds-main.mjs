// What the processes of `seeds.mjs` share, each of which runs seeds of a simulation and writes what happened as JSON:
//   node simulation-main.mjs FROM UNTIL [WHAT IS BROKEN]

import { failIfRejected, rightNow } from "./simulated-time.mjs";

/** What is broken, if anything. */
export const chosen = process.argv[4];

/**
 * Runs the seeds until one fails. `simulate` resolves to what a seed did: what was `seen`, and numbers, of which those whose names begin
 * with "most" are the largest of a seed, and the others sums. `says`: how a failure must read to count, where something is broken, which
 * may do other harm first.
 */
export async function writeSeeds(simulate, says = /^/) {
  const [from, until] = process.argv.slice(2, 4).map(Number);
  const seen = new Set();
  const counts = {};
  let others = 0;
  let failure;
  for (let seed = from; seed < until && failure === undefined; seed++) {
    try {
      const { seen: inSeed, ...numbers } = await simulate(seed);
      // What was rejected and nobody has handled is known after this.
      await new Promise(rightNow);
      failIfRejected();
      for (const what of inSeed) seen.add(what);
      for (const [name, count] of Object.entries(numbers)) {
        const before = counts[name] ?? 0;
        counts[name] = name.startsWith("most") ? Math.max(before, count) : before + count;
      }
    } catch (error) {
      const said = error.message.startsWith("seed") ? error.message : `seed ${seed}: ${error.stack}`;
      if (says.test(said)) failure = said;
      else others++;
    }
  }
  process.stdout.write(JSON.stringify({ seen: [...seen], ...counts, others, failure }));
  // What a run left behind waits for events that never come.
  process.exit();
}
