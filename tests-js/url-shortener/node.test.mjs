// The URL shortener as a server of Node, with a real Postgres, from the packed package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { Layout } from "frazil";
import { installConsumer, root } from "../packaging/tarballs.mjs";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { testProgram } from "./program.mjs";

const layout = Layout.named("edge");
/** A folder for pictures of the page, to look at. */
const SCREENSHOTS = process.env.FRAZIL_SCREENSHOTS;

let database;
let folder;
let program;

/** Starts the server, as its README says. */
async function startServer(...args) {
  const env = { ...process.env, DATABASE_URL: database.url, PORT: "0" };
  const child = spawn(process.execPath, ["server.mjs", ...args], {
    cwd: join(folder, "node"),
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  return {
    origin: line,
    async stop() {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}

before(async () => {
  database = await PostgresServer.start();
  folder = installConsumer("url-shortener");
  cpSync(join(root, "examples/url-shortener"), folder, { recursive: true });
  symlinkSync(join(root, "tests-js/node_modules/pg"), join(folder, "node_modules/pg"));
  program = await startServer("--init");
});
after(async () => {
  await program?.stop();
  await database?.stop();
});

testProgram(
  "node",
  () => program.origin,
  (name) => SCREENSHOTS && join(SCREENSHOTS, `${name}.png`),
);

test("node: two servers on one database have a node id each and the same links; one that ends frees its own", async () => {
  const held = async () => {
    const rows = await database.query("SELECT node FROM frazil_leases WHERE grant_id IS NOT NULL ORDER BY node");
    return rows.map(({ node }) => Number(node));
  };
  assert.deepEqual(await held(), [0]);
  const other = await startServer();
  assert.deepEqual(await held(), [0, 1]);
  for (const { origin } of [program, other]) {
    const { status } = await fetch(`${origin}/summer-sale`, { redirect: "manual" });
    assert.equal(status, 302);
  }
  const visits = async () => {
    const rows = await database.query("SELECT id FROM visits ORDER BY id DESC LIMIT 2");
    return rows.map(({ id }) => layout.decode(id).node).sort();
  };
  for (let tries = 0; `${await visits()}` !== "0,1"; tries++) {
    assert.ok(tries < 100, "the visits of both are stored");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(await other.stop(), 0);
  assert.deepEqual(await held(), [0]);
});
