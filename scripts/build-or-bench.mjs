// `npm run build` and `npm run bench [-- NAME]`: both install and build what is missing; `bench` then runs all benchmarks, or the one of
// that name: `paths` (each call beside its floor), `peers` (other packages), `rust` (other crates), `growth` (threads, processes,
// states), `requests` (programs that mint now and then), `text` (IDs as text). `chart` draws the latest record of `peers`. Only their
// names run `choosing` (kinds of primary keys in Postgres) and `instructions`, which records the counts that
// `npm test -- instructions` compares.
import { build } from "./build.mjs";
import { installPackages, setUp } from "./setup.mjs";
import { root, run } from "./shell.mjs";
import { postgres, runtimes } from "./tools.mjs";

const NAMES = ["paths", "peers", "rust", "growth", "requests", "text", "chart", "choosing", "instructions"];
const [task, only] = process.argv.slice(2);
if (only !== undefined && !(task === "bench" && NAMES.includes(only)))
  throw new Error(`${JSON.stringify(only)} was given: must be one of ${NAMES.join(", ")}, after npm run bench --`);
await setUp();
await build();
const runs = (name) => task === "bench" && (only ?? name) === name;
if (task === "bench" && only === undefined) run(process.execPath, [`${root}tests-js/bench/run.mjs`]);
if (runs("paths")) run(process.execPath, [`${root}tests-js/bench/paths.mjs`]);
if (runs("peers")) {
  await installPackages(`${root}tests-js/bench/peers/`, "installing the packages to compare with");
  run(process.execPath, [`${root}tests-js/bench/peers.mjs`]);
}
if (runs("rust")) await import("./bench-rust.mjs");
if (runs("growth")) run(process.execPath, [`${root}tests-js/bench/growth.mjs`]);
if (runs("text")) run(process.execPath, [`${root}tests-js/bench/text.mjs`]);
if (runs("requests")) run(process.execPath, [`${root}tests-js/bench/requests.mjs`]);
if (only === undefined || ["peers", "chart"].includes(only))
  if (task === "bench") run(process.execPath, [`${root}tests-js/bench/chart.mjs`]);
if (only === "instructions") await (await import("./instructions.mjs")).recordInstructions();
if (only === "choosing") {
  for (const tool of [runtimes, postgres]) {
    const reason = tool.whyUnavailable();
    if (reason !== undefined) throw new Error(reason);
    await tool.install();
  }
  run(process.execPath, [`${root}tests-js/bench/choosing.mjs`]);
}
