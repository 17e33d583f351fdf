// `npm start`: builds what is missing, mints a handful of IDs on both backends, and shows what their bits say.
import { spawnSync } from "node:child_process";
import { build, hasAddon } from "./build.mjs";
import { setUp } from "./setup.mjs";
import { root } from "./shell.mjs";

await setUp();
await build();
// One process for each backend: a process has one.
for (const backend of hasAddon ? ["native", "wasm"] : ["wasm"]) {
  const { status } = spawnSync(process.execPath, [`${root}scripts/demo.mjs`, backend], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, FRAZIL_BACKEND: backend },
  });
  if (status !== 0) process.exit(status ?? 1);
}
