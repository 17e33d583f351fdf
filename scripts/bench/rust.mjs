// `npm run bench -- rust`: runs the benchmark of crates/core/bench, and writes a dated record.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { ask, root } from "../shell.mjs";
import { BENCH_MANIFEST, cargoBench } from "./cargo.mjs";

const lock = readFileSync(`${root}crates/core/bench/Cargo.lock`, "utf8");
const names = [...readFileSync(`${root}${BENCH_MANIFEST}`, "utf8").matchAll(/^(\w+) = \{? ?(?:version = )?"/gm)].map(
  ([, name]) => name,
);
/** A crate and its version in the lock file. */
const crate = (name) => `${name} ${new RegExp(`^name = "${name}"\nversion = "(.*)"`, "m").exec(lock)[1]}`;
const peers = names.filter((name) => lock.includes(`name = "${name}"`)).map(crate);

const table = await cargoBench("next", "benchmarking one ID by one call in Rust");
const day = new Date().toISOString().slice(0, 10);
const file = `docs/reference/benchmarks/${day}-rust.md`;
const record = `# One ID by one call in Rust, ${day}

\`npm run bench -- rust\`: ${crate("frazil")}, ${ask("rustc", ["--version"])}; ${cpus()[0].model.trim()}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}.
Peers: ${peers.join(", ")}.

Samples of 1000 IDs at the beginning of a millisecond, 1500 interleaved rounds; a ratio is that of one round, the middle half beside it.

${table}
`;
writeFileSync(`${root}${file}`, record);
process.stdout.write(`${record}\nWritten to ${file}\n`);
