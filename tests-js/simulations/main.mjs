// Runs a simulation from its file:
//
//   node simulation.mjs SEED [NAME]                  replays a seed, with a line for each step, on what is broken under that name
//   node simulation.mjs FROM UNTIL NAME --json       runs seeds until one fails, and writes what happened; NAME may be empty
import { failIfRejected, rightNow } from "./world.mjs";

/**
 * `simulate(seed, options)` resolves to what a seed did: what was `seen`, and numbers, of which those whose names begin with "most" are the
 * largest of a seed, and the others sums. `broken`: by name what can be wrong on purpose, and `load` makes options of it, or of nothing.
 */
export async function main({ simulate, broken, load }) {
  const args = process.argv.slice(2);
  const isJson = args.at(-1) === "--json";
  const name = isJson ? args[2] : args[1];
  if (name && !(name in broken)) throw new Error(`nothing is broken under the name ${name}`);
  const chosen = broken[name];
  const options = await load(chosen);
  if (isJson) await runSeeds(Number(args[0]), Number(args[1]), (seed) => simulate(seed, options), chosen?.says);
  else await replay(Number(args[0] ?? 1), (seed) => simulate(seed, { ...options, log: writeLine }));
}

const writeLine = (line) => process.stdout.write(`${line}\n`);

async function replay(seed, simulate) {
  const { seen, ...counts } = await simulate(seed);
  writeLine(`seed ${seed}: ${JSON.stringify(counts)}; ${[...seen].join("; ")}`);
}

/** `says`: how a failure must read to count, where something is broken, which may do other harm first. */
async function runSeeds(from, until, simulate, says = /^/) {
  const seen = new Set();
  const counts = {};
  let others = 0;
  let failure;
  for (let seed = from; seed < until && failure === undefined; seed++) {
    try {
      const { seen: inSeed, ...numbers } = await simulate(seed);
      // After this, unhandled rejections are known.
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
  // The rest of a run waits for events that never come.
  process.exit();
}
