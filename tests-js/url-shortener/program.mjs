// What the URL shortener must do on every host: its API, and its page in a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { base62 } from "frazil/text";
import { chromium } from "playwright-core";
import { tools } from "../../scripts/tools.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];
const layout = Layout.named("edge");
const LINKS_PER_SLOT = 30;

/** Registers the tests. `origin()` is the address of the running program. `screenshot(name)` is the path of a picture, if any. */
export function testProgram(host, origin, screenshot = () => undefined) {
  const get = (path) => fetch(`${origin()}${path}`, { redirect: "manual" });
  const post = async (body) => {
    const response = await fetch(`${origin()}/api/links`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, retryAfter: response.headers.get("retry-after"), ...(await response.json()) };
  };
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
  });

  test(`${host}: visits are counted, also by time`, async () => {
    const sum = async () => {
      const { bars, firstId, lastId } = await (await get("/api/statistics?hours=1")).json();
      assert.ok(bars.every(({ fromMs }, at) => at === 0 || fromMs > bars[at - 1].fromMs));
      assert.ok(BigInt(firstId) < BigInt(lastId));
      return bars.reduce((sum, { visits }) => sum + visits, 0);
    };
    const before = await sum();
    const { code } = await post({ url: "https://example.com/visited" });
    for (let visit = 0; visit < 3; visit++) assert.equal((await get(`/${code}`)).status, 302);
    const visitsOf = async () =>
      (await (await get("/api/links")).json()).links.find((link) => link.code === code).visits;
    await until(async () => (await visitsOf()) === 3);
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
    for (const path of ["/no-such-link", "/ZZZZZZZZZZ", "/a/b"]) assert.equal((await get(path)).status, 404, path);
    assert.equal((await fetch(`${origin()}/x`, { method: "POST" })).status, 405);
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
      } finally {
        await browser.close();
      }
    });
  }

  // The last one: it uses up what this client may make.
  test(`${host}: a client makes a number of links in ten minutes, and hears when it may go on`, async () => {
    const answers = [];
    // Twice as many at most: the ten minutes may end meanwhile.
    while (answers.length <= 2 * LINKS_PER_SLOT && answers.at(-1)?.status !== 429)
      answers.push(await post({ url: "https://example.com/limit" }));
    const { status, error, retryAfter } = answers.at(-1);
    assert.equal(status, 429);
    assert.equal(error, "at most 30 links in ten minutes");
    assert.ok(Number(retryAfter) >= 1 && Number(retryAfter) <= 600);
    const ids = answers.slice(0, -1).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });
}
