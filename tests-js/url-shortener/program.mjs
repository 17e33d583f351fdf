// What the URL shortener must do on every host: its API, and its page in a browser.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { test } from "node:test";
import { Layout } from "frazil";
import { base62 } from "frazil/text";
import { chromium } from "playwright-core";
import { tools } from "../../scripts/tools.mjs";

/** Flags of the browser. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-sync",
];
const layout = Layout.named("edge");
const JSON_TYPE = { "content-type": "application/json" };
const BURST = 30;
const EACH_MS = 20_000;

/** Headers of a connection, which a host chooses. */
const OF_THE_CONNECTION = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

/** Sends a request as it is, which `fetch` would correct or refuse. `options` are those of `request`. */
export async function send(origin, { path, body, headers, ...options }) {
  const { hostname, port } = new URL(origin);
  // As browsers do: without it a server may close the connection before an upload that it refuses has ended.
  const agent = new Agent({ keepAlive: true });
  const outgoing = request({ hostname, port, path, headers, agent, ...options });
  outgoing.end(body);
  const [incoming] = await once(outgoing, "response");
  outgoing.on("error", () => {}); // it has its answer
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  agent.destroy();
  const kept = Object.entries(incoming.headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
  return { status: incoming.statusCode, headers: Object.fromEntries(kept), text };
}

const AS_JSON = { ...JSON_TYPE, "cache-control": "no-store", "x-content-type-options": "nosniff" };
const AS_TEXT = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
const posted = (body, headers = JSON_TYPE) => ({ method: "POST", path: "/api/links", headers, body });
const made = (...fields) => posted(JSON.stringify(Object.assign({ url: "https://example.com" }, ...fields)));

/** Hostile requests with the status, and the headers with the fields that are refused, that both hosts must answer with. */
const HOSTILE = [
  ...[
    "/LygHa16AHYF",
    "/AzL8n0Y58m8",
    "/zzzzzzzzzzz",
    "/",
    "/evil/x",
    "/%00",
    "/%ff",
    "/a/b",
    `/${"a".repeat(7000)}`,
  ].map(
    // A slash more, where it is one alone.
    (path) => [{ path: /^\/(evil.*)?$/.test(path) ? `/${path}` : path }, 404, AS_TEXT],
  ),
  [{ path: "http://evil.example/x" }, 404, AS_TEXT],
  ...["TRACE", "DELETE", "PATCH"].map((method) => [{ method, path: "/abc" }, 405, { ...AS_JSON, allow: "GET, HEAD" }]),
  [{ method: "PUT", path: "/abc", body: " ".repeat(9_000_000) }, 405, { ...AS_JSON, allow: "GET, HEAD" }],
  [{ method: "POST", path: "/api/statistics", body: "x" }, 405, { ...AS_JSON, allow: "GET, HEAD" }],
  [{ method: "POST", path: "http://evil.example/", body: "x" }, 405, { ...AS_JSON, allow: "GET, HEAD" }],
  [{ method: "DELETE", path: "/api/links" }, 405, { ...AS_JSON, allow: "GET, HEAD, POST" }],
  [{ method: "HEAD", path: "/api/links" }, 200, AS_JSON],
  [{ method: "HEAD", path: "/no-such-link" }, 404, AS_TEXT],
  // The browser of a visitor, sent by another site: it asks first, or sends what a form can.
  [
    {
      method: "OPTIONS",
      path: "/api/links",
      headers: {
        origin: "https://evil.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    },
    405,
    { ...AS_JSON, allow: "GET, HEAD, POST" },
  ],
  ...["text/plain", "application/x-www-form-urlencoded", "text/plain; application/json", "application/jsonp", ""].map(
    (type) => [
      posted('{"url":"https://example.com"}', { origin: "https://evil.example", "content-type": type }),
      415,
      AS_JSON,
      "content-type",
    ],
  ),
  [posted('{"url":"https://example.com"}', {}), 415, AS_JSON, "content-type"],
  ...["", "{", "\xff\xfe", " ".repeat(8193), " ".repeat(70_000), " ".repeat(9_000_000)].map((body) => [
    posted(body),
    400,
    AS_JSON,
    "body",
  ]),
  ...["null", "[]", '"x"', "1"].map((body) => [posted(body), 400, AS_JSON, "url"]),
  ...["javascript:alert(1)", "java\tscript:alert(1)", "http://", ["http://a"], `http://e.com/${"€".repeat(2000)}`].map(
    (url) => [made({ url }), 400, AS_JSON, "url"],
  ),
  ...["constructor", "__proto__", "abc\n", "a';drop", {}].map((alias) => [made({ alias }), 400, AS_JSON, "alias"]),
  ...["0", "1e9", "x", ""].map((hours) => [{ path: `/api/statistics?hours=${hours}` }, 400, AS_JSON, "hours"]),
  [made({ url: "https://example.com/\u0000\r\nSet-Cookie: a=b\ud800" }), 201, AS_JSON],
];

/**
 * Registers the tests. `origin()` is the address of the running program. `from(client)`: the options of a request that comes from one
 * of several clients. `screenshot(name)` is the path of a picture, if any.
 */
export function testProgram(host, origin, from, screenshot = () => undefined) {
  const get = (path) => fetch(`${origin()}${path}`, { redirect: "manual" });
  const post = async (body) => {
    const response = await fetch(`${origin()}/api/links`, {
      method: "POST",
      headers: JSON_TYPE,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, ...(await response.json()) };
  };
  const visitsOf = async (code) =>
    (await (await get("/api/links")).json()).links.find((link) => link.code === code).visits;
  /** Visits are stored after the answer. */
  const until = async (condition) => {
    for (let tries = 0; tries < 100; tries++) {
      const value = await condition();
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return assert.fail("it did not happen within 5 s");
  };

  test(`${host}: a link leads to its address, and its code is its ID`, async () => {
    const made = await post({ url: "https://example.com/a?b=1#c" });
    assert.equal(made.status, 201);
    assert.equal(made.code, base62.short.encode(made.id));
    assert.equal(made.shortUrl, `${origin()}/${made.code}`);
    const { timestampMs, node, sequence } = layout.decode(made.id);
    assert.deepEqual(made.parts, { timestampMs, node, sequence });
    assert.ok(Math.abs(timestampMs - Date.now()) < 60_000);
    const answer = await get(`/${made.code}`);
    assert.deepEqual([answer.status, answer.headers.get("location")], [302, "https://example.com/a?b=1#c"]);
    // The next test counts all visits.
    await until(async () => (await visitsOf(made.code)) === 1);
  });

  test(`${host}: visits are counted, also by time`, async () => {
    const sum = async () => {
      const { bars, fromId, untilId } = await (await get("/api/statistics?hours=1")).json();
      assert.ok(bars.every(({ fromMs }, at) => at === 0 || fromMs > bars[at - 1].fromMs));
      assert.ok(BigInt(fromId) < BigInt(untilId));
      return bars.reduce((sum, { visits }) => sum + visits, 0);
    };
    const before = await sum();
    const { code } = await post({ url: "https://example.com/visited" });
    for (let visit = 0; visit < 3; visit++) assert.equal((await get(`/${code}`)).status, 302);
    await until(async () => (await visitsOf(code)) === 3);
    assert.equal(await sum(), before + 3);
  });

  test(`${host}: an alias belongs to the first`, async () => {
    assert.equal((await post({ url: "https://example.com/1", alias: "summer-sale" })).status, 201);
    const { status, field, error } = await post({ url: "https://example.com/2", alias: "summer-sale" });
    assert.deepEqual([status, field, error], [409, "alias", "the alias is taken"]);
    assert.equal((await get("/summer-sale")).headers.get("location"), "https://example.com/1");
  });

  test(`${host}: a link that ends has its end, and what is missing is said to be`, async () => {
    const { expiresAtMs, parts } = await post({ url: "https://example.com", expiresInDays: 7 });
    assert.ok(Math.abs(expiresAtMs - parts.timestampMs - 7 * 86_400_000) < 60_000);
    for (const path of ["/no-such-link", "/ZZZZZZZZZZ", "/KZZZZZZZZZZ", "/a/b"])
      assert.equal((await get(path)).status, 404, path);
    assert.equal((await fetch(`${origin()}/x`, { method: "POST" })).status, 405);
  });

  test(`${host}: hostile requests get the answers that the other host gives`, async () => {
    for (const [each, status, headers, field] of HOSTILE) {
      const name = `${each.method ?? "GET"} ${each.path.slice(0, 40)} ${each.body?.slice(0, 80) ?? ""}`;
      const answer = await send(origin(), { ...each, ...from(2, each.headers) });
      assert.deepEqual([answer.status, answer.headers], [status, headers], name);
      if (field) assert.deepEqual(JSON.parse(answer.text).field, field, name);
    }
    assert.equal((await get("/")).status, 200);
  });

  test(`${host}: no link leads back by another scheme, port or spelling of the host`, async () => {
    const { hostname, port } = new URL(origin());
    for (const host of [
      `http://${hostname}:${port}`,
      `https://${hostname}`,
      `http://${hostname}.:${port}`,
      `HTTP:${hostname}:1`,
    ]) {
      const { status, field, error } = await post({ url: `${host}/loop` });
      assert.deepEqual([status, field, error], [400, "url", "url must not lead back here"], host);
    }
  });

  test(`${host}: what cannot be a link is refused with the field and the rule`, async () => {
    const url = "https://example.com";
    const refusals = [
      ["no JSON", "body"],
      [{}, "url"],
      [{ url: "javascript:alert(1)" }, "url"],
      [{ url: "https://user:secret@example.com" }, "url"],
      [{ url: `${origin()}/loop` }, "url"],
      [{ url: `https://example.com/${"a".repeat(2048)}` }, "url"],
      [{ url, alias: "a b" }, "alias"],
      [{ url, alias: "abcdefghij" }, "alias"],
      [{ url, alias: "api" }, "alias"],
      [{ url, expiresInDays: 0 }, "expiresInDays"],
      [{ url, expiresInDays: "7" }, "expiresInDays"],
      ["x".repeat(10_000), "body"],
    ];
    for (const [body, field] of refusals) {
      const answer = await post(body);
      assert.deepEqual([answer.status, answer.field], [400, field], JSON.stringify(body));
      assert.ok(answer.error.startsWith(`${field} must`), answer.error);
    }
  });

  for (const [size, viewport, colorScheme] of [
    ["phone", { width: 360, height: 740 }, "light"],
    ["desktop", { width: 1280, height: 900 }, "dark"],
  ]) {
    test(`${host}: the page on a ${size}`, async () => {
      const browser = await chromium.launch({ executablePath: tools.chromium, args: FLAGS });
      try {
        const page = await browser.newPage({ viewport, colorScheme });
        const errors = [];
        page.on("pageerror", ({ message }) => errors.push(message));
        page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
        await page.goto(origin());
        await page.getByLabel("Address").fill("https://developer.mozilla.org/en-US/docs/Web/JavaScript");
        await page.getByLabel("Name of your own").fill(`from-a-${size}`);
        await page.getByRole("button", { name: "Shorten" }).click();
        const link = page.locator("#short");
        await link.waitFor({ state: "visible" });
        assert.equal(await link.getAttribute("href"), `${origin()}/from-a-${size}`);
        assert.match(await page.locator("#id").textContent(), /^\d{18,19}$/);
        await page.locator("#rows").getByText(`from-a-${size}`, { exact: true }).waitFor();
        const path = screenshot(`${host}-${size}`);
        if (path) await page.screenshot({ path, fullPage: true });
        const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
        assert.equal(scrollWidth, clientWidth, "it is wider than the window");
        assert.deepEqual(errors, []);

        // The same name again: an error that a reader hears, with the field that it is about.
        await page.getByLabel("Address").fill("https://example.com");
        await page.getByLabel("Name of your own").fill(`from-a-${size}`);
        await page.getByRole("button", { name: "Shorten" }).click();
        assert.equal(await page.getByRole("alert").textContent(), "the alias is taken");
        assert.equal(await page.evaluate(() => document.activeElement.id), "alias");

        // The answer for the time that was chosen first comes last.
        await page.route("**/api/statistics?hours=168", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          await route.continue();
        });
        const shown = () => page.locator("#from").textContent();
        const before = await shown();
        const late = page.waitForResponse("**/api/statistics?hours=168");
        await page.getByLabel("Time range").selectOption("168");
        await page.getByLabel("Time range").selectOption("1");
        const ofOneHour = await until(async () => (await shown()) !== before && shown());
        await (await late).finished();
        await page.waitForTimeout(200);
        assert.equal(await shown(), ofOneHour);
      } finally {
        await browser.close();
      }
    });
  }

  test(`${host}: a client makes 30 links at once, and hears when it may go on`, async () => {
    const startMs = Date.now();
    const url = "https://example.com/limit";
    const answers = await Promise.all(
      Array.from({ length: 2 * BURST }, () => send(origin(), { ...made({ url }), ...from(3, JSON_TYPE) })),
    );
    const ids = answers.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text).id);
    assert.equal(new Set(ids).size, ids.length);
    const more = Math.floor((Date.now() - startMs) / EACH_MS);
    assert.ok(ids.length >= BURST && ids.length <= BURST + more, `${ids.length} links`);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, headers, text } of refused) {
      assert.deepEqual([status, headers["retry-after"]], [429, "20"]);
      assert.deepEqual(JSON.parse(text), { error: "at most 30 links at once, and one more each 20 seconds" });
    }
    // Others are not held up.
    assert.equal((await send(origin(), { ...made({ url }), ...from(4, JSON_TYPE) })).status, 201);
  });
}
