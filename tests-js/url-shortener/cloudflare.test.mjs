// The URL shortener as a Worker, by the one command of its README: wrangler bundles it, and workerd runs it with a local D1 and a local
// Durable Object.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { tools } from "../../scripts/tools.mjs";
import { installConsumer, root } from "../packaging/tarballs.mjs";
import { freePort } from "../stores/server-process.mjs";
import { testProgram } from "./program.mjs";

/** A folder for pictures of the page, to look at. */
const SCREENSHOTS = process.env.FRAZIL_SCREENSHOTS;

let folder;
let program;

/** Runs `npm start`, as the README says, in the Node that wrangler needs. Nothing is sent to Cloudflare. */
async function start() {
  const port = await freePort();
  const path = [dirname(tools.node24), join(root, "tests-js/node_modules/.bin"), process.env.PATH].join(delimiter);
  const quiet = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "true" };
  const child = spawn(
    "npm",
    ["start", "--", "--ip", "127.0.0.1", "--port", `${port}`, "--inspector-port", `${await freePort()}`],
    {
      cwd: join(folder, "cloudflare"),
      env: { ...process.env, ...quiet, PATH: path, npm_config_update_notifier: "false" },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, which ends as a whole.
      detached: true,
    },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      log += chunk;
    });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 240 && child.exitCode === null, `it did not start: ${log}`);
    if (
      await fetch(origin).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return {
    origin,
    async stop() {
      process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
}

before(async () => {
  folder = installConsumer("url-shortener");
  cpSync(join(root, "examples/url-shortener"), folder, { recursive: true });
  program = await start();
});
after(async () => {
  await program?.stop();
  rmSync(folder, { recursive: true, force: true });
});

testProgram(
  "cloudflare",
  () => program.origin,
  (name) => SCREENSHOTS && join(SCREENSHOTS, `${name}.png`),
);

test("cloudflare: after workerd was killed, the links and visits are there, and visits get IDs", async () => {
  const read = async (path) => (await fetch(`${program.origin}${path}`)).json();
  const codesOf = async () => (await read("/api/links")).links.map(({ code, visits }) => `${code} ${visits}`);
  const visits = async () => (await read("/api/statistics?hours=1")).bars.reduce((sum, bar) => sum + bar.visits, 0);
  const [codes, before] = [await codesOf(), await visits()];
  assert.equal(codes.length, 12);
  assert.ok(before > 0);
  await program.stop();
  program = await start();
  assert.deepEqual(await codesOf(), codes);
  const { status } = await fetch(`${program.origin}/summer-sale`, { redirect: "manual" });
  assert.equal(status, 302);
  for (let tries = 0; (await visits()) !== before + 1; tries++) {
    assert.ok(tries < 100, "the visit is stored");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
