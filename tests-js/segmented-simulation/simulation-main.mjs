// Runs seeds of the simulation on the shipped client and rules of the store, or on some that are wrong on purpose, and writes what
// happened as JSON:
//   node simulation-main.mjs FROM UNTIL [NAME]
import { BROKEN } from "./broken.mjs";
import { compiled, simulate } from "./simulation.mjs";

const [from, until] = process.argv.slice(2, 4).map(Number);
const broken = BROKEN[process.argv[4]];
const code = await compiled(broken);
const seen = new Set();
const sums = { numbers: 0, allocated: 0, ranges: 0, holes: 0, leftovers: 0, asks: 0, sync: 0 };
const most = { most: 0, mostLateMs: 0, mostTries: 0, mostHealthyMs: 0 };
let others = 0;
let failure;
for (let seed = from; seed < until && failure === undefined; seed++) {
  try {
    const run = await simulate(seed, { code, defect: broken?.defect });
    for (const what of run.seen) seen.add(what);
    for (const name of Object.keys(sums)) sums[name] += run[name];
    for (const name of Object.keys(most)) most[name] = Math.max(most[name], run[name]);
  } catch (error) {
    const said = error.message.startsWith("seed") ? error.message : `seed ${seed}: ${error.stack}`;
    // What is wrong on purpose may do other harm first.
    if (broken === undefined || broken.says.test(said)) failure = said;
    else others++;
  }
}
process.stdout.write(JSON.stringify({ seen: [...seen], ...sums, ...most, others, failure }));
// What a run left behind waits for events that never come.
process.exit();
