// Runs seeds of the simulation on the driver that is given, and writes what happened as JSON:
//   node simulation-main.mjs FROM UNTIL [MODULE]
import { simulate } from "./simulation.mjs";

const [from, until] = process.argv.slice(2, 4).map(Number);
const { lease } = process.argv[4] ? await import(process.argv[4]) : {};
const seen = new Set();
let ids = 0;
let most = 0;
let failure;
for (let seed = from; seed < until && failure === undefined; seed++) {
  try {
    const run = await simulate(seed, { ...(lease && { lease }) });
    for (const what of run.seen) seen.add(what);
    ids += run.ids;
    most = Math.max(most, run.most);
  } catch (error) {
    failure = error.message;
  }
}
process.stdout.write(JSON.stringify({ seen: [...seen], ids, most, failure }));
// Timers of a run that failed are fake, and hold nothing.
