// `npm run build` and `npm run bench`: both install and build what is missing; `bench` then runs the benchmarks.
import { build } from "./build.mjs";
import { setUp } from "./setup.mjs";
import { root, run } from "./shell.mjs";

const [task] = process.argv.slice(2);
await setUp();
await build();
if (task === "bench") run(process.execPath, [`${root}tests-js/bench/run.mjs`]);
