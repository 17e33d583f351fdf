// Seeds of the simulation on the shipped client, or on one that is wrong on purpose.
import { chosen, writeSeeds } from "../seeds-main.mjs";
import { BROKEN } from "./broken-clients.mjs";
import { compile } from "./isolate-code.mjs";
import { simulate } from "./simulation.mjs";

const broken = BROKEN[chosen];
const evaluate = await compile("workers/leased.ts", broken);
await writeSeeds((seed) => simulate(seed, { evaluate }), broken?.says);
