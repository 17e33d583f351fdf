// The programs of docs/guides/serverless.md, as they are written there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PostgresStore } from "frazil/stores/postgres";
import { freePort } from "../../stores/kit/server-process.mjs";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const page = readFileSync(path("../../../docs/guides/serverless.md"), "utf8");
const WINDOW_MS = 3000;

let server;
before(async () => {
  server = await PostgresServer.start({ idle_session_timeout: "1s" });
  const pool = poolTo(server.url);
  const store = new PostgresStore(pool);
  await store.migrate();
  await store.init({ layout: "default" });
  await pool.end();
});
after(() => server?.crash());

/** Writes a program of the page into this folder, where its packages are found. The window is shorter if `short` is set. */
function program(t, name, short) {
  const text = [...page.matchAll(/```js\n(.*?)```/gs)].find(([, body]) => body.startsWith(`// ${name}`))[1];
  const changed = text.replace('renew: "calls"', `renew: "calls", windowMs: ${WINDOW_MS}`);
  assert.notEqual(changed, text);
  const file = path(`of-the-docs-${name}`);
  writeFileSync(file, short ? changed : text);
  t.after(() => rmSync(file));
  return file;
}

/** Starts a program, and stops it between what is asked of it. */
function start(t, args, env) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, DATABASE_URL: server.url, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const ended = once(child, "close");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended, errors: () => errors };
}

const held = async () =>
  (await server.query("SELECT node FROM frazil_leases WHERE grant_id IS NOT NULL ORDER BY node")).map(
    ({ node }) => node,
  );

for (const short of [false, true]) {
  test(`the function for AWS Lambda${short ? ", stopped for longer than a window" : ""}`, async (t) => {
    const { child, errors } = start(t, [path("handler-main.mjs"), program(t, "index.mjs", short)]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const invoke = async () => {
      child.kill("SIGCONT");
      child.stdin.write("{}\n");
      const { value } = await lines.next();
      child.kill("SIGSTOP");
      return JSON.parse(value);
    };
    const rows = await held();
    const replies = [await invoke()];
    assert.equal((await held()).length, rows.length + 1);
    for (let count = 0; count < 3; count++) {
      await sleep(short ? WINDOW_MS + 500 : 1500);
      replies.push(await invoke());
    }
    for (const { id, node, resources, error } of replies) {
      assert.equal(error, undefined);
      assert.match(id, /^\d{18}$/);
      assert.equal(node, replies[0].node);
      assert.ok(!resources.includes("Timeout"), `${resources}`);
    }
    assert.equal(new Set(replies.map(({ id }) => id)).size, 4);
    assert.equal(errors(), "");
  });

  test(`the server for Cloud Run${short ? ", stopped for longer than a window" : ""}`, async (t) => {
    const port = await freePort();
    const rows = await held();
    const { child, ended, errors } = start(t, [program(t, "server.mjs", short)], { PORT: `${port}` });
    const request = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
      assert.equal(response.status, 200);
      return response.text();
    };
    const ids = [];
    for (let count = 0; count < 3; count++) {
      for (let tries = 0; count === 0 && tries < 200; tries++) {
        if (await request().catch(() => false)) break;
        await sleep(25);
      }
      ids.push(...(await Promise.all(Array.from({ length: 20 }, request))));
      child.kill("SIGSTOP");
      await sleep(short ? WINDOW_MS + 500 : 1500);
      child.kill("SIGCONT");
    }
    assert.equal(new Set(ids).size, 60);
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(await held(), rows, "the node id was not released");
    assert.equal(errors(), "");
  });
}

test("the server for Cloud Run ends in time, and its node id is free, though a client sends no request", async (t) => {
  const port = await freePort();
  const rows = await held();
  const { child, ended, errors } = start(t, [program(t, "server.mjs", false)], { PORT: `${port}` });
  const answers = () => fetch(`http://127.0.0.1:${port}/`).then(({ ok }) => ok);
  for (let tries = 0; tries < 200 && !(await answers().catch(() => false)); tries++) await sleep(25);
  for (const text of ["", "GET / HTTP/1.1\r\nhost: half\r\n"]) {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    if (text) await new Promise((resolve) => socket.write(text, resolve));
  }
  assert.equal((await held()).length, rows.length + 1);
  const beganMs = performance.now();
  child.kill("SIGTERM");
  const result = await Promise.race([ended, sleep(10_000, "still running", { ref: false })]);
  assert.deepEqual(result, [0, null]);
  t.diagnostic(`ended after ${Math.round(performance.now() - beganMs)} ms`);
  assert.deepEqual(await held(), rows, "the node id was not released");
  assert.equal(errors(), "");
});
