// The store in other runtimes with `fetch`, without Node's modules: Deno, Bun and workerd.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import { root } from "../../../scripts/shell.mjs";
import { tools } from "../../../scripts/tools.mjs";
import { serverFolder } from "../kit/server-process.mjs";
import { startServer } from "./server.mjs";

const EXPECTED = { granted: true, isLater: true, released: true };
let server;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

/** Bundles a program, as for a runtime without modules of Node. Returns its folder; the file is `main.mjs`. */
function bundle(contents) {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["*.wasm"],
    // That of npm/frazil leads to the sources.
    tsconfigRaw: "{}",
    write: false,
  });
  const folder = serverFolder();
  writeFileSync(join(folder, "main.mjs"), outputFiles[0].contents);
  return folder;
}

for (const [name, program, flags] of [
  ["Deno", tools.deno, ["run", "--no-prompt", "--no-remote", "--allow-net=127.0.0.1"]],
  ["Bun", tools.bun, ["run"]],
])
  test(`${name}: a lease from its grant to its release`, async () => {
    const call = `oneLease(${server.port}, "${name}")`;
    const folder = bundle(`import { oneLease } from "./one-lease.mjs"; console.log(JSON.stringify(await ${call}));`);
    const env = { ...process.env, DENO_DIR: `${root}.cache/deno`, DENO_NO_UPDATE_CHECK: "1" };
    // The program ends with this process, and a server must answer meanwhile.
    const child = spawn(program, [...flags, join(folder, "main.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await once(child, "close");
    assert.deepEqual(JSON.parse(output), EXPECTED);
  });

test("workerd: a lease from its grant to its release", async () => {
  const folder = bundle(`import { oneLease } from "./one-lease.mjs";
    export default { fetch: async () => Response.json(await oneLease(${server.port}, "workerd")) };`);
  const { outputFiles } = esbuild.buildSync({ entryPoints: [join(folder, "main.mjs")], write: false });
  const modules = { "main.mjs": { type: "esm", contents: outputFiles[0].text } };
  const miniflare = new Miniflare({
    cf: false, // otherwise miniflare downloads a sample
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    workers: [
      {
        config: {
          name: "leases",
          compatibilityDate: "2026-11-01",
          manifest: { mainModule: "main.mjs", modulesRoot: folder, modules },
          env: {},
          exports: {},
        },
        dev: { rootPath: folder },
      },
    ],
  });
  try {
    const response = await miniflare.dispatchFetch("http://localhost/");
    assert.deepEqual(await response.json(), EXPECTED);
  } finally {
    await miniflare.dispose();
  }
});
