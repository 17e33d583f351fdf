// Seeds of the simulation on the driver of the package, or on the one in a module that is given.
import { chosen, writeSeeds } from "../seeds-main.mjs";
import { simulate } from "./simulation.mjs";

const driver = chosen && { lease: (await import(chosen)).lease };
await writeSeeds((seed) => simulate(seed, driver));
