// `npm run build` and `npm run bench [-- peers|rust]`: both install and build what is missing; `bench` then runs the benchmarks, or the
// comparison with other packages, or with other crates, alone.
import { build } from "./build.mjs";
import { installPackages, setUp } from "./setup.mjs";
import { root, run } from "./shell.mjs";

const [task, only] = process.argv.slice(2);
if (only !== undefined && !(task === "bench" && ["peers", "rust"].includes(only)))
  throw new Error(`${JSON.stringify(only)} was given: must be peers or rust, after npm run bench --`);
await setUp();
await build();
const runs = (name) => task === "bench" && (only ?? name) === name;
if (task === "bench" && only === undefined) run(process.execPath, [`${root}tests-js/bench/run.mjs`]);
if (runs("peers")) {
  await installPackages(`${root}tests-js/bench/peers/`, "installing the packages to compare with");
  run(process.execPath, [`${root}tests-js/bench/peers.mjs`]);
}
if (runs("rust")) await import("./bench-rust.mjs");
