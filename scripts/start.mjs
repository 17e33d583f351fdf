// `npm start`: builds what is missing, mints a few IDs on both backends and decodes them, with the package's own command line,
// and leases a node id and takes numbers of a segment from an embedded database.
// The addon mints with `Snowflake.local()`, whose state file stays in `.cache/state` between runs. WebAssembly has no access to
// files, so it mints with a static node id.
import { build } from "./build.mjs";
import { setUp } from "./setup.mjs";
import { ask, isLinuxX64Gnu, root, run } from "./shell.mjs";

const cli = `${root}npm/frazil/dist/cli.mjs`;
const title = (text) => process.stdout.write(`\n── ${text}\n\n`);

await setUp();
await build();
// One process per backend: a process can have only one.
for (const backend of isLinuxX64Gnu ? ["native", "wasm"] : ["wasm"]) {
  const env = { ...process.env, FRAZIL_BACKEND: backend };
  const next = ["next", ...(backend === "native" ? ["--dir", ".cache/state"] : ["--node", "7"]), "--count", "3"];
  const ids = ask(process.execPath, [cli, ...next], { env });
  if (ids === undefined)
    throw new Error(`the ${backend} backend minted no IDs: FRAZIL_BACKEND=${backend} npx frazil ${next.join(" ")}`);
  title(`IDs minted now on the ${backend} backend: npx frazil ${next.join(" ")}`);
  run(process.execPath, [cli, "decode", ...ids.split("\n")], { env });
}
title("a node id and numbers from a database: lease(store), beside Snowflake.local(), and new Segment(store, { tag })");
run(process.execPath, [`${root}scripts/start-lease.mjs`, ...(isLinuxX64Gnu ? [`${root}.cache/state`] : [])]);
title("a tweet of 2022: npx frazil decode 1541815603606036480 --layout twitter");
run(process.execPath, [cli, "decode", "1541815603606036480", "--layout", "twitter"]);
title("a Discord message of 2016: npx frazil decode 175928847299117063 --layout discord");
run(process.execPath, [cli, "decode", "175928847299117063", "--layout", "discord"]);
