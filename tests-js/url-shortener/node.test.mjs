// The URL shortener as a Node server, with a real Postgres, by the commands of its README.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Layout } from "frazil";
import pg from "pg";
import { chromium } from "playwright-core";
import { tools } from "../../scripts/tools.mjs";
import { freePort } from "../stores/kit/server-process.mjs";
import { PostgresServer, poolTo } from "../stores/postgres/server.mjs";
import { runReadme } from "./copy.mjs";
import { FLAGS, send, testProgram } from "./program.mjs";

const layout = Layout.named("edge");
/** A folder for pictures of the page, to look at. */
const SCREENSHOTS = process.env.FRAZIL_SCREENSHOTS;

let database;
let copy;
let program;

before(async () => {
  database = await PostgresServer.start();
  const [port, otherPort] = [await freePort(), await freePort()];
  copy = await runReadme("url-shortener", "On Node", {
    node: process.execPath,
    env: { PORT: `${port}` },
    replace: (line) =>
      line.replace("postgres://localhost/postgres", database.url).replace("PORT=8788", `PORT=${otherPort}`),
  });
  assert.equal(copy.running.length, 2);
  program = copy.running[0];
});
after(async () => {
  for (const each of copy?.running ?? []) await each.stop();
  await database?.stop();
});

/** Starts one more server, as a process of its own that gets signals, for the time of a test. */
async function startServer(test, { node = process.execPath, env = {} } = {}) {
  const child = spawn(node, ["node/server.mjs"], {
    cwd: copy.folder,
    env: { ...process.env, DATABASE_URL: database.url, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  test.after(() => child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const ended = once(child, "close");
  const [origin] = await once(createInterface(child.stdout), "line");
  return {
    origin,
    log: () => log,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    signal: (name = "SIGTERM") => child.kill(name),
    ended: async () => (await ended)[0],
    async stop() {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}

const post = (origin, body, options = {}) =>
  send(origin, {
    method: "POST",
    path: "/api/links",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...options,
  });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

testProgram(
  "node",
  () => program.origin,
  (client, headers) => ({ headers, localAddress: `127.0.0.${client}` }),
  (name) => SCREENSHOTS && join(SCREENSHOTS, `${name}.png`),
);

test("node: two servers on one database have a node id each and the same links; one that ends frees its own", async (t) => {
  assert.deepEqual(await heldNodes(), [0, 1]);
  for (const { origin } of copy.running) {
    const { status } = await fetch(`${origin}/summer-sale`, { redirect: "manual" });
    assert.equal(status, 302);
  }
  const visits = async () => {
    const rows = await database.query("SELECT id FROM visits ORDER BY id DESC LIMIT 2");
    return rows.map(({ id }) => layout.decode(id).node).sort();
  };
  for (let tries = 0; `${await visits()}` !== "0,1"; tries++) {
    assert.ok(tries < 100, "the visits of both are stored");
    await pause(50);
  }
  const other = await startServer(t);
  assert.deepEqual(await heldNodes(), [0, 1, 2]);
  assert.equal(await other.stop(), 0);
  assert.deepEqual(await heldNodes(), [0, 1]);
});

test("node: short links begin with ORIGIN, whatever the Host header says, and none leads back to it", async (t) => {
  const server = await startServer(t, { env: { ORIGIN: "https://sho.rt" } });
  const options = { localAddress: "127.0.0.5", headers: { host: "evil.example", "content-type": "application/json" } };
  const { status, text } = await post(server.origin, { url: "https://example.com", alias: "host-header" }, options);
  assert.deepEqual([status, JSON.parse(text).shortUrl], [201, "https://sho.rt/host-header"]);
  for (const url of ["https://sho.rt/x", "http://SHO.rt.:8080/x", "https://ⓢho.rt/x"])
    assert.equal((await post(server.origin, { url }, options)).status, 400, url);
  assert.equal(await server.stop(), 0);
});

for (const env of [{ HOST: "::1" }, { HOST: "::1", ORIGIN: "https://sho.rt/" }])
  test(`node: short links of a server with ${JSON.stringify(env)} lead to it`, async (t) => {
    const server = await startServer(t, { env });
    assert.match(server.origin, /^http:\/\/\[::1\]:\d+$/);
    const response = await fetch(`${server.origin}/api/links`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"url":"https://example.com"}',
    });
    const { code, shortUrl } = await response.json();
    assert.equal(shortUrl, `${env.ORIGIN ? "https://sho.rt" : server.origin}/${code}`);
    assert.equal(await server.stop(), 0);
  });

/** Runs a server that cannot start to its end. */
async function cannotStart(env) {
  const child = spawn(process.execPath, ["node/server.mjs"], {
    cwd: copy.folder,
    env: { ...process.env, DATABASE_URL: database.url, PORT: "0", ...env },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 20_000,
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const [code] = await once(child, "close");
  return { code, log };
}

/** The node ids that are held. */
async function heldNodes() {
  const rows = await database.query("SELECT node FROM frazil_leases WHERE grant_id IS NOT NULL ORDER BY node");
  return rows.map(({ node }) => Number(node));
}

for (const [name, value] of [
  ["HOST", ""],
  ["HOST", "a b"],
  ["HOST", "example.com/x"],
  ["ORIGIN", ""],
  ["ORIGIN", "example.com"],
  ["ORIGIN", "https://example.com/x"],
  ["ORIGIN", "ftp://example.com"],
  ["PORT", ""],
  ["PORT", "abc"],
  ["PORT", "99999"],
  ["PORT", "-1"],
  ["PORT", "8e3"],
  ["PORT", "/tmp/socket"],
])
  test(`node: a server with ${name}=${value} leases no node id, and says why`, async () => {
    const before = await heldNodes();
    const { code, log } = await cannotStart({ [name]: value });
    assert.equal(code, 1);
    assert.ok(log.includes(`Error: ${name} is ${JSON.stringify(value)}: it must be `), log);
    assert.ok(log.includes(`${name}=`), log);
    assert.deepEqual(await heldNodes(), before);
  });

for (const [what, env, sentence] of [
  [
    "a port that another one has",
    () => ({ PORT: new URL(program.origin).port }),
    "another program listens there on 127.0.0.1. Write another one, for example PORT=8788",
  ],
  [
    "an address of another machine",
    () => ({ HOST: "192.0.2.1" }),
    "this machine has no such address. Write for example HOST=127.0.0.1",
  ],
  [
    "a name without an address",
    () => ({ HOST: "nobody.invalid" }),
    "no address has that name. Write for example HOST=127.0.0.1",
  ],
])
  test(`node: a server with ${what} ends with one sentence, and frees its node id`, async () => {
    const before = await heldNodes();
    const variables = env();
    const { code, log } = await cannotStart(variables);
    const [[name, value]] = Object.entries(variables);
    assert.deepEqual([code, log], [1, `${name} is ${JSON.stringify(value)}: ${sentence}\n`]);
    assert.deepEqual(await heldNodes(), before);
  });

for (const [signals, sentence] of [
  [1, "1 requests or visits did not end within 10 s"],
  [2, "a second signal: the server ends at once"],
])
  test(`node: a server whose visit waits for a locked table ends after ${signals} signals`, async (t) => {
    const server = await startServer(t);
    const { code } = JSON.parse((await post(server.origin, { url: "https://example.com/locked" })).text);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query("BEGIN; LOCK TABLE visits IN ACCESS EXCLUSIVE MODE");
      assert.equal((await send(server.origin, { path: `/${code}`, localAddress: "127.0.0.8" })).status, 302);
      server.signal();
      await pause(1000);
      assert.equal(server.hasEnded(), false);
      if (signals === 2) server.signal();
      const ended = await Promise.race([server.ended(), pause(20_000)]);
      assert.equal(ended, 1, server.log());
      assert.ok(server.log().includes(sentence), server.log());
    } finally {
      await client.end();
    }
  });

for (const [version, node] of Object.entries({ 20: process.execPath, 22: tools.node22, 24: tools.node24 })) {
  test(`node: bodies that are too long or end early do not end the server, in Node ${version}`, async (t) => {
    const server = await startServer(t, { node });
    const options = { method: "POST", path: "/api/links", headers: { "content-type": "application/json" } };
    for (const length of [8193, 70_000, 9_000_000]) {
      const { status, text } = await send(server.origin, { ...options, body: " ".repeat(length) });
      assert.deepEqual([status, JSON.parse(text).error], [400, "body must be at most 8192 bytes"]);
    }
    const { port } = new URL(server.origin);
    for (const [length, sent] of [
      [5000, 6],
      [9_000_000, 100_000],
      [9_000_000, 4_000_000],
    ]) {
      for (let each = 0; each < 5; each++) {
        const socket = connect(port, "127.0.0.1").on("error", () => {});
        socket.write(
          `POST /api/links HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
        );
        await new Promise((resolve) => socket.write(" ".repeat(sent), resolve));
        await pause(20);
        socket.destroy();
      }
    }
    assert.equal((await fetch(server.origin)).status, 200);
    assert.equal(await server.stop(), 0);
    assert.equal(server.log(), "", "clients cannot fill the log");
  });
}

test("node: a request whose host or path is no address is refused", async () => {
  // Those of the proxy of wrangler do not reach the Worker.
  for (const request of [
    { path: "/", headers: { host: "[" } },
    { method: "OPTIONS", path: "*" },
  ]) {
    const { status, text } = await send(program.origin, request);
    assert.deepEqual([status, JSON.parse(text).field], [400, "host"]);
  }
});

test("node: a restart of Postgres does not end the server", async (t) => {
  const server = await startServer(t);
  const { code } = JSON.parse((await post(server.origin, { url: "https://example.com/restart" })).text);
  await database.stop();
  for (let tries = 0; !server.log().includes("a connection has ended"); tries++) {
    assert.ok(tries < 100 && !server.hasEnded(), `it ended, or said nothing: ${server.log()}`);
    await pause(50);
  }
  assert.equal((await fetch(`${server.origin}/${code}`)).status, 500);
  await database.start();
  const { status, headers } = await send(server.origin, { path: `/${code}` });
  assert.deepEqual([status, headers.location], [302, "https://example.com/restart"]);
  assert.equal(await server.stop(), 0);
  assert.equal((await fetch(program.origin)).status, 200);
});

test("node: the page says that the server has failed, or is gone, and copies where a browser can", async (t) => {
  const server = await startServer(t);
  const browser = await chromium.launch({
    executablePath: tools.chromium,
    args: [...FLAGS, "--host-resolver-rules=MAP sho.rt 127.0.0.1"],
  });
  try {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await database.query("ALTER TABLE links RENAME TO links_elsewhere");
    try {
      await page.goto(server.origin);
      const failure = "The server has failed, with status 500. Try again in a while.";
      await page.getByText(failure, { exact: true }).waitFor({ timeout: 5000 });
    } finally {
      await database.query("ALTER TABLE links_elsewhere RENAME TO links");
    }
    for (const [origin, canCopy] of [
      [`http://sho.rt:${new URL(server.origin).port}`, false],
      [server.origin, true],
    ]) {
      await page.goto(origin);
      await page.getByLabel("Address").fill("https://example.com/copied");
      await page.getByRole("button", { name: "Shorten" }).click();
      await page.locator("#short").waitFor({ state: "visible" });
      assert.equal(await page.getByRole("button", { name: "Copy" }).isVisible(), canCopy, origin);
    }
    assert.equal(await server.stop(), 0);
    await page.getByLabel("Address").fill("https://example.com/gone");
    await page.getByRole("button", { name: "Shorten" }).click();
    await page
      .getByText("The server cannot be reached. Try again in a while.", { exact: true })
      .waitFor({ timeout: 5000 });
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
});

test("node: a server that is told to stop answers what is under way, and stores its visits", async (t) => {
  const server = await startServer(t);
  const { id, code } = JSON.parse((await post(server.origin, { url: "https://example.com/stop" })).text);
  const agent = new Agent({ keepAlive: true });
  const outcomes = {};
  let redirects = 0;
  const visitor = async () => {
    for (;;) {
      const outcome = await send(server.origin, { path: `/${code}`, agent }).then(
        ({ status }) => status,
        (error) => error.code,
      );
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome !== 302) return;
      redirects += 1;
    }
  };
  // A request that has begun, and goes on when all others have ended.
  const slow = connect(new URL(server.origin).port, "127.0.0.1");
  slow.write(`GET /${code} HTTP/1.1\r\nHost: a\r\n`);
  const visitors = Promise.all(Array.from({ length: 20 }, visitor));
  while (redirects < 200) await pause(5);
  server.signal("SIGINT");
  server.signal("SIGTERM");
  await visitors;
  await pause(200);
  slow.write("\r\n");
  const [answer] = await once(slow, "data");
  assert.match(`${answer}`, /^HTTP\/1.1 302 /);
  redirects += 1;
  assert.equal(await server.ended(), 0, server.log());
  assert.equal(server.log(), "");
  const rest = Object.keys(outcomes).filter((outcome) => !["302", "ECONNREFUSED", "ECONNRESET"].includes(outcome));
  assert.deepEqual(rest, [], JSON.stringify(outcomes));
  const [{ rows, counted }] = await database.query(
    "SELECT count(*)::int AS rows, (SELECT visits::int FROM links WHERE id = $1) AS counted FROM visits WHERE link_id = $1",
    [id],
  );
  assert.deepEqual([rows, counted], [redirects, redirects]);
});

test("node: the limit holds across the end of ten minutes", async () => {
  const { linksIn } = await import(pathToFileURL(join(copy.folder, "app/links.mjs")).href);
  const pool = poolTo(database.url);
  const run = async (sql, values) => (await pool.query(sql.replaceAll("?", "$"), values)).rows;
  const at = (nowMs) => linksIn(run, { nowMs: `CAST(${nowMs} AS BIGINT)` });
  const share = { burst: 30, eachMs: 20_000 };
  const taken = async (client, ...times) => {
    let count = 0;
    for (const nowMs of times) count += await at(nowMs).take(client, share);
    return count;
  };
  try {
    const boundaryMs = Math.ceil(Date.now() / 600_000) * 600_000;
    const before = Array(40).fill(boundaryMs - 1);
    assert.equal(await taken("one", ...before, ...before.map((ms) => ms + 2)), 30);
    assert.equal(await taken("one", ...Array(40).fill(boundaryMs + 60_000)), 3);
    await at(boundaryMs).forget();
    assert.equal(await taken("one", boundaryMs + 60_000), 0, "a client that has used its share is kept");
    await at(boundaryMs + 660_001).forget();
    assert.deepEqual(await database.query("SELECT * FROM clients"), [], "and deleted once it has it again");
  } finally {
    await pool.end();
  }
});

test("node: a server whose clock is an hour ahead gives no client a second share", async (t) => {
  writeFileSync(
    join(copy.folder, "ahead.mjs"),
    'const now = Date.now; let ahead = 0; process.on("SIGUSR2", () => { ahead = 3_600_000; }); Date.now = () => now() + ahead;',
  );
  const servers = [await startServer(t), await startServer(t, { env: { NODE_OPTIONS: "--import=./ahead.mjs" } })];
  servers[1].signal("SIGUSR2");
  const startMs = performance.now();
  const statuses = [];
  for (let each = 0; each < 70; each++) {
    const { status } = await post(
      servers[each < 35 ? 0 : 1].origin,
      { url: "https://example.com/clock" },
      { localAddress: "127.0.0.9" },
    );
    statuses.push(status);
  }
  const made = statuses.filter((status) => status === 201).length;
  const more = Math.floor((performance.now() - startMs) / 20_000) + 1;
  assert.ok(made >= 30 && made <= 30 + more, `${made} links`);
  assert.equal(await servers[0].stop(), 0);
});

test("node: a statistic reads the newest 10,000 visits, and says so", async () => {
  const read = async () => (await fetch(`${program.origin}/api/statistics?hours=1`)).json();
  assert.equal((await read()).isWhole, true);
  const first = layout.minIdAt(Date.now() - 60_000);
  await database.query("INSERT INTO visits SELECT $1::bigint + n, 0 FROM generate_series(1, 10001) AS n", [first]);
  const { isWhole, bars } = await read();
  assert.deepEqual([isWhole, bars.reduce((sum, { visits }) => sum + visits, 0)], [false, 10_000]);
});

test("a client is an IPv4 address, or a network of IPv6", async () => {
  const { clientOf } = await import("../../examples/url-shortener/app/clients.mjs");
  const clients = [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0:0:ffff::2", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::", "2001:db8:0:1::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["", ""],
  ];
  for (const [address, client] of clients) assert.equal(clientOf(address), client);
});
