// The built site in Chromium, under `default-src 'self'`: links, errors, requests, search, accessibility, and pages without JavaScript.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sidebar } from "../../site/build/navigation.mjs";
import { OutsideFiles } from "../../site/build/outside-files.mjs";
import { errors } from "../vectors/generated-tables.mjs";
import { allPages, deadLinks, parsed } from "./links.mjs";
import { dist, pages, startSite } from "./site.mjs";

const axe = readFileSync(
  fileURLToPath(new URL("../../site/node_modules/axe-core/axe.min.js", import.meta.url)),
  "utf8",
);

let site;
before(async () => {
  site = await startSite();
});
after(() => site?.close());

test("every link and every anchor answers", () => {
  const all = allPages();
  assert.ok(all.size > 60, `${all.size} pages`);
  assert.ok([...all.values()].flatMap(({ links }) => links).length > 3000);
  assert.deepEqual(deadLinks(all), []);
  const broken = new Map(all).set("/broken.html", parsed('<a href="/gone.html"></a><a href="/start.html#gone"></a>'));
  assert.deepEqual(deadLinks(broken), ["/broken.html: /gone.html", "/broken.html: /start.html#gone (no such anchor)"]);
});

test("a link to a file that is no page leads to the repository, or to a copy below the path of the site", () => {
  const link = new OutsideFiles("/below/").linkOf("guides/local.md", "../proofs/local-platforms.json");
  assert.match(link, /^(https:.*|\/below\/files)\/docs\/proofs\/local-platforms\.json(\.txt)?$/);
  assert.throws(() => new OutsideFiles("/").linkOf("guides/local.md", "../gone.json"), /no such file/);
});

test("no two pages of a list of the navigation have one name", () => {
  const twice = (items) => [
    ...items.filter(({ text }, at) => items.findIndex((other) => other.text === text) < at),
    ...items.flatMap(({ items: below = [] }) => twice(below)),
  ];
  assert.deepEqual(twice(sidebar()), []);
  const [page] = sidebar();
  assert.deepEqual(twice([{ text: "Chapter", items: [page, page] }]), [page]);
});

test("llms.txt has every page but the records of runs, with a sentence and a link that answers", () => {
  const lines = [...readFileSync(`${dist}/llms.txt`, "utf8").matchAll(/^- \[(.+)\]\((\/.*\.html)\): (.{15,}\.)$/gm)];
  const linked = lines.map(([, , link]) => link.replace(/index\.html$/, ""));
  const isRecord = (path) => /^\/(proofs|reference\/benchmarks)\//.test(path);
  assert.deepEqual(
    linked.toSorted(),
    pages().filter((path) => path !== "/" && !isRecord(path)),
  );
  const full = readFileSync(`${dist}/llms-full.txt`, "utf8");
  for (const heading of ["\n# Leases", "\n# frazil/lease\n", "\n## `LeaseStore`"])
    assert.ok(full.includes(heading), heading);
});

test("commands have tabs for four package managers, and the first page has tabs for four ways", async () => {
  const { page, problems, close } = await site.open("/start.html");
  const group = page.locator(".vp-code-group").nth(1);
  for (const [manager, command] of [
    ["npm", "npm install frazil pg\nnpx frazil ddl"],
    ["pnpm", "pnpm add frazil pg\npnpm exec frazil ddl"],
    ["yarn", "yarn add frazil pg\nyarn frazil ddl"],
    ["bun", "bun add frazil pg\nbunx frazil ddl"],
  ]) {
    await group.locator("label").getByText(manager, { exact: true }).click();
    assert.ok((await group.locator("pre:visible").innerText()).startsWith(command), manager);
  }
  await page.goto(`${site.origin}/`);
  const ways = page.locator(".vp-code-group").nth(1);
  await ways.getByLabel("One machine").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await ways.locator("pre:visible").innerText(), /await lease\(/);
  assert.deepEqual(problems, []);
  await close();
});

/** What axe finds that keeps somebody from reading. */
const findings = (page) =>
  page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => ["serious", "critical"].includes(impact))
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });

test("no page has an error, asks another origin, or has a serious finding of axe in a theme", async () => {
  const wrong = [];
  for (const path of pages()) {
    const { page, problems, close } = await site.open(path, { reducedMotion: "reduce" });
    await page.evaluate(axe);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction(
        (isDark) => document.documentElement.classList.contains("dark") === isDark,
        colorScheme === "dark",
      );
      for (const finding of await findings(page)) wrong.push(`${path} ${colorScheme}: ${finding}`);
    }
    for (const problem of problems) wrong.push(`${path}: ${problem}`);
    await close();
  }
  assert.deepEqual(wrong, []);
});

test("the checks of a page find an inline script, a request of another origin, and what axe objects to", async () => {
  const { page, problems, close } = await site.open("/start.html");
  await page.evaluate(axe);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    const image = document.createElement("img");
    image.src = "http://127.0.0.1:9/image.png";
    const violated = new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", ({ blockedURI }) => blockedURI !== "inline" && resolve());
    });
    document.body.append(script, image);
    return violated;
  });
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.ok((await findings(page)).some((finding) => finding.startsWith("image-alt")));
  assert.ok(
    problems.some((problem) => /inline script/.test(problem)),
    `${problems}`,
  );
  assert.ok(
    problems.some((problem) => /127\.0\.0\.1:9/.test(problem)),
    `${problems}`,
  );
  await close();
});

/** Questions, and the page that one of the first three answers leads to. */
const QUESTIONS = {
  autoscaling: "guides/deploying",
  backup: "guides/deploying",
  base62: "reference/text",
  "BIGINT mysql": "reference/stores/mysql",
  cli: "reference/cli",
  "clock went back": "reference/errors",
  cursor: "guides/databases",
  discord: "reference/layouts",
  duplicate: "concepts/safety",
  excel: "guides/json",
  "getting started": "start",
  "graceful shutdown": "guides/leases",
  graphql: "guides/json",
  install: "start",
  "json bigint": "guides/json",
  kubernetes: "guides/deploying",
  lambda: "guides/serverless",
  license: "",
  "mint in browser": "guides/runtimes",
  mongoose: "guides/databases",
  monitoring: "guides/deploying",
  "multi-region": "guides/leases",
  nestjs: "guides/frameworks",
  nextjs: "guides/frameworks",
  "node id": "concepts/node-ids",
  pagination: "guides/databases",
  "prisma bigint": "guides/databases",
  "prometheus metrics": "guides/deploying",
  react: "guides/runtimes",
  "redis failover": "reference/stores/redis",
  serverless: "guides/serverless",
  setSystemTime: "guides/testing",
  sharding: "guides/databases",
  throughput: "reference/benchmarks",
  "two rows have one id": "guides/audit",
  upgrade: "",
  uuid: "choosing",
  vite: "guides/bundling",
  "which layout": "reference/layouts",
};
const pathOf = (page) => `/${page}${page === "" ? "" : ".html"}`;

test("search answers questions, and explains each error code first", async () => {
  const all = allPages();
  const { page, problems, close } = await site.open("/");
  await page.keyboard.press("Control+k");
  const input = page.locator("#localsearch-input");
  const results = page.locator("#localsearch-list a.result");
  const ask = async (question) => {
    await input.fill("");
    await results.first().waitFor({ state: "detached" });
    await input.fill(question);
    await results.first().waitFor();
    return results.evaluateAll((found) => found.map((link) => link.getAttribute("href")));
  };
  const found = [];
  for (const [question, wanted] of Object.entries(QUESTIONS)) {
    const links = await ask(question);
    found.push(...links);
    const first = links.slice(0, 3).map((link) => link.split("#")[0]);
    assert.ok(first.includes(pathOf(wanted)), `${question}: ${first}`);
  }
  for (const code of Object.values(errors.CLASSES).flatMap((codes) => codes.split(" "))) {
    const links = await ask(code);
    found.push(...links);
    assert.equal(links[0], `/reference/errors.html#${code}`);
  }
  assert.ok(new Set(found).size > 150, `${new Set(found).size} results`);
  assert.deepEqual(deadLinks(all, [["search", { links: found }]]), []);
  const damaged = found.map((link) => link.replace("safety", "safety duplicate"));
  assert.notDeepEqual(deadLinks(all, [["search", { links: damaged }]]), []);
  assert.deepEqual(problems, []);
  await close();
});

test("without JavaScript every page can be read, and leads to the others", async () => {
  const { page, close } = await site.open("/", { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  for (const path of pages()) {
    await page.goto(`${site.origin}${path}`);
    assert.ok(await page.locator("main h1").isVisible(), path);
    assert.ok((await page.locator("main").innerText()).length > 200, path);
    assert.match(await page.locator(".no-script").innerText(), /^Search and the decoder need JavaScript\./);
    assert.equal(await page.locator(".no-script a").getAttribute("href"), "/");
  }
  await page.goto(`${site.origin}/`);
  assert.ok(await page.getByText("The decoder needs JavaScript.").isVisible());
  assert.equal(await page.locator(".vp-code-group").nth(1).locator("pre:visible").count(), 4);
  const linked = await page.locator("main a").evaluateAll((all) => all.length);
  assert.ok(linked > 20, `${linked} links`);
  await close();
});
