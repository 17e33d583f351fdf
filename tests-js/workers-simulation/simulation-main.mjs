// Runs seeds of the simulation on the shipped client, or on one that is wrong on purpose, and writes what happened as JSON:
//   node simulation-main.mjs FROM UNTIL [NAME]
import { BROKEN } from "./broken-clients.mjs";
import { compile } from "./isolate-code.mjs";
import { simulate } from "./simulation.mjs";

const [from, until] = process.argv.slice(2, 4).map(Number);
const broken = BROKEN[process.argv[4]];
const evaluate = await compile("workers/leased.ts", broken);
const seen = new Set();
const counts = { ids: 0, most: 0, asks: 0, sync: 0 };
let others = 0;
let failure;
for (let seed = from; seed < until && failure === undefined; seed++) {
  try {
    const { seen: inRun, most, ...run } = await simulate(seed, { evaluate });
    for (const what of inRun) seen.add(what);
    for (const [name, count] of Object.entries(run)) counts[name] += count;
    counts.most = Math.max(counts.most, most);
  } catch (error) {
    const said = error.message.startsWith("seed") ? error.message : `seed ${seed}: ${error.stack}`;
    // What is wrong on purpose may do other harm first.
    if (broken === undefined || broken.says.test(said)) failure = said;
    else others++;
  }
}
process.stdout.write(JSON.stringify({ seen: [...seen], ...counts, others, failure }));
// What a run left behind waits for events that never come.
process.exit();
