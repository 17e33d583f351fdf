// `npm run bench -- rust`: runs the benchmark of crates/core/bench, and writes a dated record.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { ask, root, step } from "./shell.mjs";

const manifest = "crates/core/bench/Cargo.toml";
const lock = readFileSync(`${root}crates/core/bench/Cargo.lock`, "utf8");
const names = [...readFileSync(`${root}${manifest}`, "utf8").matchAll(/^(\w+) = \{? ?(?:version = )?"/gm)].map(
  ([, name]) => name,
);
/** A crate and its version in the lock file. */
const crate = (name) => `${name} ${new RegExp(`^name = "${name}"\nversion = "(.*)"`, "m").exec(lock)[1]}`;
const peers = names.filter((name) => lock.includes(`name = "${name}"`)).map(crate);

const table = await step("benchmarking one ID by one call in Rust", () =>
  ask(
    "cargo",
    [
      "bench",
      "--bench",
      "next",
      "--locked",
      "--quiet",
      "--target-dir",
      `${root}target/bench`,
      "--manifest-path",
      manifest,
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  ),
);
if (table === undefined) throw new Error("the benchmark failed");
const day = new Date().toISOString().slice(0, 10);
const file = `docs/benchmarks/${day}-rust.md`;
const record = `# One ID by one call in Rust, ${day}

\`npm run bench -- rust\`: ${crate("frazil")}, ${ask("rustc", ["--version"])}; ${cpus()[0].model.trim()}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}.
Peers: ${peers.join(", ")}.

Samples of 1000 IDs at the beginning of a millisecond, 1500 interleaved rounds; a ratio is that of one round, the middle half beside it.

${table}
`;
writeFileSync(`${root}${file}`, record);
process.stdout.write(`${record}\nWritten to ${file}\n`);
