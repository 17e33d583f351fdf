// `npm run build` and `npm run bench [-- NAME]`: both install and build what is missing; `bench` then runs all benchmarks, or the one of
// that name: `peers` (other packages), `rust` (other crates), `growth` (threads, processes, states),
// `requests` (programs that mint now and then). `chart` draws the latest record of `peers`. Only its name runs `instructions`, which
// records the counts that `npm test -- instructions` compares.
import { build } from "./build.mjs";
import { installPackages, setUp } from "./setup.mjs";
import { root, run } from "./shell.mjs";

const NAMES = ["peers", "rust", "growth", "requests", "chart", "instructions"];
const [task, only] = process.argv.slice(2);
if (only !== undefined && !(task === "bench" && NAMES.includes(only)))
  throw new Error(`${JSON.stringify(only)} was given: must be one of ${NAMES.join(", ")}, after npm run bench --`);
await setUp();
await build();
const runs = (name) => task === "bench" && (only ?? name) === name;
if (task === "bench" && only === undefined) run(process.execPath, [`${root}tests-js/bench/run.mjs`]);
if (runs("peers")) {
  await installPackages(`${root}tests-js/bench/peers/`, "installing the packages to compare with");
  run(process.execPath, [`${root}tests-js/bench/peers.mjs`]);
}
if (runs("rust")) await import("./bench-rust.mjs");
if (runs("growth")) run(process.execPath, [`${root}tests-js/bench/growth.mjs`]);
if (runs("requests")) run(process.execPath, [`${root}tests-js/bench/requests.mjs`]);
if (only === undefined || ["peers", "chart"].includes(only))
  if (task === "bench") run(process.execPath, [`${root}tests-js/bench/chart.mjs`]);
if (only === "instructions") await (await import("./instructions.mjs")).recordInstructions();
