// `npm run bench [-- NAME]`: installs and builds what is missing, then runs the benchmark of that name, or all that need no server.
import { build } from "../build/index.mjs";
import { installPackages, setUp } from "../setup.mjs";
import { root, run } from "../shell.mjs";
import { etcd, mariadb, postgres, redis, runtimes, valkey, zookeeper } from "../tools.mjs";

const measure = (name) => run(process.execPath, [`${root}tests-js/bench/${name}.mjs`]);
async function measureBesidePeers(name) {
  await installPackages(`${root}tests-js/bench/peers/`, "installing the packages to compare with");
  measure(name);
}

/**
 * Every benchmark. `run`: in place of `tests-js/bench/NAME.mjs`. `requires`: tools that it installs; with `alone` or with these, only its
 * name runs it.
 */
const BENCHES = [
  // Calls of each kind beside `Date.now()`.
  { name: "calls" },
  // Each call beside its floor.
  { name: "paths" },
  // Other packages.
  { name: "peers", run: () => measureBesidePeers("peers") },
  // One ID now and then, beside other packages, in every runtime.
  { name: "isolated", requires: [runtimes], run: () => measureBesidePeers("isolated") },
  // Other crates.
  { name: "rust", run: () => import("./rust.mjs") },
  // Threads, processes, states.
  { name: "growth" },
  // IDs as text.
  { name: "text" },
  // Texts that hide an ID, beside other packages.
  {
    name: "public",
    run: async () => {
      await measureBesidePeers("public");
      run(process.execPath, [`${root}scripts/bench/made-up.mjs`]);
    },
  },
  // Programs that mint now and then.
  { name: "requests" },
  // Draws the latest record of `isolated`.
  { name: "chart" },
  // From the start of a process to its first ID.
  { name: "start", requires: [runtimes] },
  // Refused calls.
  { name: "refusals", requires: [runtimes] },
  // Lease stores.
  { name: "leases", requires: [runtimes, postgres, mariadb, redis, valkey, etcd, zookeeper] },
  // Kinds of primary keys in Postgres.
  { name: "choosing", requires: [runtimes, postgres] },
  // Records the counts that `npm test -- instructions` compares.
  {
    name: "instructions",
    alone: true,
    run: async () => (await import("../checks/instructions.mjs")).recordInstructions(),
  },
];

const only = process.argv[2];
const names = BENCHES.map(({ name }) => name);
if (process.argv.length > 3 || (only !== undefined && !names.includes(only)))
  throw new Error(
    `${JSON.stringify(process.argv.slice(2).join(" "))} was given: must be one of ${names.join(", ")}, after npm run bench --`,
  );
await setUp();
await build();
for (const { name, requires = [], alone = requires.length > 0, run: start = () => measure(name) } of BENCHES) {
  if (name !== only && (alone || only !== undefined)) continue;
  for (const tool of requires) {
    const reason = tool.whyUnavailable();
    if (reason !== undefined) throw new Error(reason);
    await tool.install();
  }
  await start();
}
