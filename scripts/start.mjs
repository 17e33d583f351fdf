// `npm start`: installs and builds what is missing, then shows on one screen what Frazil does, by the package that was built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { build } from "./build/index.mjs";
import { setUp } from "./setup.mjs";
import { ask, begin, isLinuxX64Gnu, root } from "./shell.mjs";

const cli = `${root}npm/frazil/dist/cli.mjs`;
const print = (text = "") => process.stdout.write(`${text}\n`);

/** An ID as a box for each of its fields: the bits, what they mean, and the name and the number of bits. */
function drawn(id, layout, meanings) {
  const widths = layout.fields.map(({ bits }) => bits);
  const digits = id.toString(2).padStart(64, "0");
  let at = 64 - widths.reduce((sum, bits) => sum + bits);
  const columns = layout.fields.map(({ kind, bits }) => {
    const cells = [digits.slice(at, at + bits), meanings[kind], `${kind} ${bits}`];
    at += bits;
    return { cells, width: Math.max(...cells.map((cell) => cell.length)) };
  });
  const border = (left, middle, right) =>
    `  ${left}${columns.map(({ width }) => "─".repeat(width + 2)).join(middle)}${right}`;
  const row = (line) => `  │${columns.map(({ cells, width }) => ` ${cells[line].padEnd(width)} `).join("│")}│`;
  return [border("┌", "┬", "┐"), row(0), row(1), row(2), border("└", "┴", "┘")].join("\n");
}

function openState(Snowflake, dir) {
  try {
    return Snowflake.local({ dir });
  } catch (error) {
    // In a repository that was copied with its files, the state is a copy too.
    if (error.code === "STATE_FILE_CORRUPT")
      error.message += `\nOnly npm start uses it: rm -r ${dir}, and run this again`;
    throw error;
  }
}

/** Mints with the state file of the repository, or with a static node id where the addon is missing. */
function showMinting({ Snowflake }) {
  const dir = `${root}.cache/state`;
  mkdirSync(dir, { recursive: true });
  const ids = isLinuxX64Gnu ? openState(Snowflake, dir) : new Snowflake({ node: 0 });
  const made = [ids.next(), ids.next(), ids.next()];
  const { date, node, sequence } = ids.decode(made[0]);
  const how = isLinuxX64Gnu ? "Snowflake.local(): one state file for all processes" : "new Snowflake({ node: 0 })";
  print(`  ${made[0]}   ${how}`);
  print(drawn(made[0], ids.layout, { time: date.toISOString(), node: `${node}`, sequence: `${sequence}` }));
  print(`  then ${made.slice(1).join(", ")}: sorted by time, no repeat`);
  ids.close?.();
  return made[0];
}

/** Leases a node id and takes numbers of a segment, as each process of a fleet would: from Postgres, here PGlite in this process. */
async function showPostgres({ PGlite }, { lease }, { Segment }, { PostgresStore }) {
  const database = new PGlite();
  const store = new PostgresStore(database);
  // Once, when the application is deployed.
  await store.migrate();
  // The last node id is left to local() above, as by default, and those below 8 to WebAssembly with a static one. They share no state.
  await store.init({ layout: "default", nodes: { from: 8, to: 1022 } });
  await store.initSegment({ tag: "orders" });

  const ids = await lease(store);
  const { untilMs } = ids.health().lease;
  print(`  lease(store)     ${ids.next()}   node ${ids.node} until ${new Date(untilMs).toISOString()}`);
  const orders = new Segment(store, { tag: "orders" });
  const numbers = [await orders.next(), orders.tryNext(), ...(await orders.nextMany(3))];
  assert.deepEqual(numbers, [1n, 2n, 3n, 4n, 5n]);
  print(`  new Segment(…)   ${numbers.join(", ")}, …   without a round trip for each`);
  orders.close();
  await ids.close();
  await database.close();
}

/** The output of the command line on a backend. A process can have only one. If it fails, the error has what it wrote. */
const runCli = (backend, ...args) =>
  execFileSync(process.execPath, [cli, ...args], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, FRAZIL_BACKEND: backend },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/** The tree of this checkout if it has no file besides: nothing was installed, built or changed. */
const bareTree =
  ask("git", ["status", "--porcelain", "--ignored"]) === "" ? ask("git", ["rev-parse", "HEAD^{tree}"]) : undefined;

await begin(setUp, build);

const frazil = await import("frazil");
print();
const id = showMinting(frazil);
print();
print("  from a database that your processes share (Postgres, embedded here as PGlite)");
await showPostgres(
  ...(await Promise.all([
    import("@electric-sql/pglite"),
    import("frazil/lease"),
    import("frazil/segment"),
    import("frazil/stores/postgres"),
  ])),
);
print();
print("  without native code: the same core as WebAssembly");
print(`  FRAZIL_BACKEND=wasm npx frazil next --node 7   ${runCli("wasm", "next", "--node", "7")}`);
print();
const tweet = "1541815603606036480";
const { date, parts } = frazil.Layout.named("twitter").decode(tweet);
print("  IDs made elsewhere: a tweet");
print(`  ${tweet}   ${date.toISOString()}, datacenter ${parts.datacenter}, worker ${parts.worker}`);
print();
print("Type next:");
print(`  npx frazil decode ${id}`);
print("  npx frazil next --count 3");
print("  npx frazil decode 175928847299117063 --layout discord");
print("  npx frazil --help");
print("  npm test");
// The suite `start` need not clone and build this tree once more.
if (bareTree !== undefined) writeFileSync(`${root}.cache/start-bare`, `${bareTree} ${process.version}`);
