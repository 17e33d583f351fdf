// The URL shortener as a Worker, by the commands of its README: wrangler bundles it, and workerd runs it with a local D1 and a local
// Durable Object.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { tools } from "../../scripts/tools.mjs";
import { runReadme } from "./copy.mjs";
import { send, testProgram } from "./program.mjs";

/** A folder for pictures of the page, to look at. */
const SCREENSHOTS = process.env.FRAZIL_SCREENSHOTS;

let copy;
let program;

/** In the Node that wrangler needs. Nothing is sent to Cloudflare. */
before(async () => {
  const env = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "true" };
  copy = await runReadme("url-shortener", "On Cloudflare", { node: tools.node24, env });
  assert.equal(copy.running.length, 1);
  program = copy.running[0];
});
after(() => program?.stop("SIGKILL"));

/** workerd itself passes the header on, which Cloudflare sets. */
const fromAddress = (address, headers) => ({ headers: { ...headers, "cf-connecting-ip": address } });

testProgram(
  "cloudflare",
  () => program.origin,
  (client, headers) => fromAddress(`192.0.2.${client}`, headers),
  (name) => SCREENSHOTS && join(SCREENSHOTS, `${name}.png`),
);

test("cloudflare: all addresses of an IPv6 network are one client", async () => {
  const statuses = [];
  for (let made = 0; made < 60; made++) {
    const address = `2001:db8:1:2:${(made * 77).toString(16)}::${made.toString(16)}`;
    const body = '{"url":"https://example.com/ipv6"}';
    const options = { method: "POST", path: "/api/links", body };
    const { status } = await send(program.origin, {
      ...options,
      ...fromAddress(address, { "content-type": "application/json" }),
    });
    statuses.push(status);
  }
  // The loop is over before the client has another one.
  assert.deepEqual(
    [201, 429].map((status) => statuses.filter((each) => each === status).length),
    [30, 30],
  );
});

test("cloudflare: after workerd was killed, the links and visits are there, and visits get IDs", async () => {
  const read = async (path) => (await fetch(`${program.origin}${path}`)).json();
  const codesOf = async () => (await read("/api/links")).links.map(({ code, visits }) => `${code} ${visits}`);
  const visits = async () => (await read("/api/statistics?hours=1")).bars.reduce((sum, bar) => sum + bar.visits, 0);
  const [codes, before] = [await codesOf(), await visits()];
  assert.equal(codes.length, 12);
  assert.ok(before > 0);
  await program.stop("SIGKILL");
  program = await copy.start("npm run cloudflare");
  assert.deepEqual(await codesOf(), codes);
  const { status } = await fetch(`${program.origin}/summer-sale`, { redirect: "manual" });
  assert.equal(status, 302);
  for (let tries = 0; (await visits()) !== before + 1; tries++) {
    assert.ok(tries < 100, "the visit is stored");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
