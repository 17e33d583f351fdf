// `npm run build` and `npm run bench [-- peers]`: both install and build what is missing; `bench` then runs the benchmarks, or the
// comparison with other packages alone.
import { build } from "./build.mjs";
import { installPackages, setUp } from "./setup.mjs";
import { root, run } from "./shell.mjs";

const [task, only] = process.argv.slice(2);
if (only !== undefined && !(task === "bench" && only === "peers"))
  throw new Error(`${JSON.stringify(only)} was given: must be peers, after npm run bench --`);
await setUp();
await build();
if (task === "bench") {
  await installPackages(`${root}tests-js/bench/peers/`, "installing the packages to compare with");
  if (only === undefined) run(process.execPath, [`${root}tests-js/bench/run.mjs`]);
  run(process.execPath, [`${root}tests-js/bench/peers.mjs`]);
}
