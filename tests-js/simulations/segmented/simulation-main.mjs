// Seeds of the simulation on the shipped client and rules of the store, or on some that are wrong on purpose.
import { chosen, writeSeeds } from "../seeds-main.mjs";
import { BROKEN } from "./broken.mjs";
import { compiled, simulate } from "./simulation.mjs";

const broken = BROKEN[chosen];
const code = await compiled(broken);
await writeSeeds((seed) => simulate(seed, { code, defect: broken?.defect }), broken?.says);
