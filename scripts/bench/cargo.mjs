// Runs one of the benchmarks of crates/core/bench, and returns what it prints: a table.
import { ask, root, step } from "../shell.mjs";

export const BENCH_MANIFEST = "crates/core/bench/Cargo.toml";

/** `what`: for the line of progress. */
export async function cargoBench(name, what) {
  const options = ["--locked", "--quiet", "--target-dir", `${root}target/bench`, "--manifest-path", BENCH_MANIFEST];
  const table = await step(what, () =>
    ask("cargo", ["bench", "--bench", name, ...options], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  if (table === undefined) throw new Error(`the benchmark ${name} of ${BENCH_MANIFEST} failed`);
  return table;
}
