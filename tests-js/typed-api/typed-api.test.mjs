// The example examples/typed-api by the commands of its README, on PGlite and on Postgres, and its page in a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Layout } from "frazil";
import { publicIds } from "frazil/public";
import { defineId } from "frazil/typed";
import { root } from "../packaging/tarballs.mjs";
import { launch } from "../runtimes/chromium/browser.mjs";
import { freePort } from "../stores/kit/server-process.mjs";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { runReadme } from "../url-shortener/copy.mjs";

/** A folder for pictures of the page, to look at. */
const SCREENSHOTS = process.env.FRAZIL_SCREENSHOTS;
const layout = Layout.named("default");

/** The key of the example. */
const keyOf = () => /^ID_KEY=(\S+)$/m.exec(readFileSync(join(copy.folder, ".env"), "utf8"))[1];

/** A type of IDs with that key. */
const typeOf = (prefix) => defineId(prefix, { public: publicIds({ kind: prefix, keys: [keyOf()] }) });

let database;
let copy;
let browser;
before(async () => {
  database = await PostgresServer.start();
  const ports = { 8788: await freePort(), 8789: await freePort() };
  copy = await runReadme("typed-api", "Run", {
    node: process.execPath,
    env: { PORT: `${await freePort()}` },
    replace: (line) =>
      line
        .replace("postgres://localhost/postgres", database.url)
        .replace(/PORT=(\d+)/, (_, port) => `PORT=${ports[port]}`),
  });
  assert.equal(copy.running.length, 3);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  for (const each of copy?.running ?? []) await each.stop();
  await database?.stop();
});

async function ask(origin, path, body) {
  const headers = { "content-type": "application/json" };
  const options = body && { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(`${origin}/api/${path}`, options);
  return { status: response.status, ...(await response.json()) };
}

/** An author, and what makes posts of it. */
async function newAuthor(origin) {
  const org = await ask(origin, "orgs", { name: "Analytical Engines" });
  const user = await ask(origin, "users", { name: "Ada", org: org.id });
  return { org, user, write: (text, on = origin) => ask(on, "posts", { author: user.id, text }) };
}

for (const [at, name] of ["PGlite", "Postgres"].entries())
  describe(name, () => {
    let origin;
    let author;
    before(async () => {
      ({ origin } = copy.running[at]);
      author = await newAuthor(origin);
    });

    test("each type has its text, and any ID is found", async () => {
      const { org, user, write } = author;
      const post = await write("first");
      assert.match(org.id, /^org_[0-9A-Za-z]{22}$/);
      assert.match(user.id, /^usr_[0-9A-Za-z]{22}$/);
      assert.match(post.id, /^post_[0-9A-Za-z]{22}$/);
      assert.deepEqual([user.org, post.author], [org.id, user.id]);
      for (const made of [org, user, post]) assert.deepEqual(await ask(origin, made.id), { ...made, status: 200 });
    });

    test("another type, a missing row and a body that is no JSON are refused", async () => {
      const { org, user } = author;
      const wrong = await ask(origin, "posts", { author: org.id, text: "x" });
      assert.deepEqual([wrong.status, wrong.field], [400, "author"]);
      assert.match(wrong.error, /^INVALID_TEXT: text must match \^usr_/);
      for (const id of [5, null, "5", `${user.id} `, user.id.slice(0, -1), "x".repeat(1000)]) {
        const { status, field } = await ask(origin, "posts", { author: id, text: "x" });
        assert.deepEqual([status, field], [400, "author"]);
      }
      const missing = await ask(origin, "posts", { author: typeOf("usr").format(1n), text: "x" });
      assert.deepEqual([missing.status, missing.field], [404, "author"]);
      const unknown = [typeOf("post").format(1n), typeOf("abc").format(1n)];
      const otherKey = `usr_${"1".repeat(22)}`;
      for (const id of [...unknown, otherKey, "post_00000000001", "5", "post_", "%00"])
        assert.equal((await ask(origin, id)).status, 404, id);
      assert.equal((await ask(origin, "posts", "{")).status, 400);
      assert.equal((await ask(origin, "posts", { author: user.id, text: "x".repeat(9000) })).status, 413);
      for (const [query, field] of Object.entries({
        "after=5": "after",
        "until=1990-01-01": "until",
        "limit=0": "limit",
      }))
        assert.deepEqual((await ask(origin, `posts?${query}`)).field, field);
    });

    test("pages have each post once, the newest first, while others are written", async () => {
      const made = [];
      for (let count = 0; count < 25; count++) made.unshift(await author.write(`post ${count}`));
      const first = await ask(origin, "posts?limit=10");
      const late = await author.write("late");
      const second = await ask(origin, `posts?limit=10&after=${first.next}`);
      const third = await ask(origin, `posts?limit=10&after=${second.next}`);
      const found = [first, second, third].flatMap(({ posts }) => posts);
      const plain = found.map(({ author, ...post }) => ({ ...post, author: author.id }));
      assert.deepEqual(
        plain.slice(0, 25),
        made.map(({ status, ...post }) => post),
      );
      assert.deepEqual(found[0].author, {
        id: author.user.id,
        name: "Ada",
        org: { id: author.org.id, name: "Analytical Engines" },
      });

      const { posts } = await ask(origin, `posts?limit=50&until=${made[9].createdAt}`);
      const before = [late, ...made].filter(({ createdAt }) => createdAt < made[9].createdAt);
      assert.deepEqual(
        posts.slice(0, before.length).map(({ id }) => id),
        before.map(({ id }) => id),
      );
      assert.ok(posts.every(({ createdAt }) => createdAt < made[9].createdAt));
    });

    for (const [size, viewport, colorScheme] of [
      ["phone", { width: 360, height: 740 }, "light"],
      ["desktop", { width: 1280, height: 900 }, "dark"],
    ])
      test(`the page on a ${size}`, async (t) => {
        const page = await browser.newPage({ viewport, colorScheme });
        t.after(() => page.close());
        const errors = [];
        page.on("pageerror", ({ message }) => errors.push(message));
        page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
        await page.goto(origin);
        await page.getByLabel("Organisation").fill("Royal Society");
        await page.getByLabel("Your name").fill("Mary");
        for (let count = 1; count <= 4; count++) {
          await page.getByLabel("Post").fill(`From a ${size}: ${count}`);
          await page.getByRole("button", { name: "Publish" }).click();
          await page.getByText(`From a ${size}: ${count}`).waitFor();
        }
        const first = page.locator("#posts li").first();
        for (const type of ["post", "usr", "org"])
          assert.match(await first.locator(`code[data-type=${type}]`).textContent(), new RegExp(`^${type}_\\w+$`));
        const authors = new Set(await page.locator("#posts code[data-type=usr]").allTextContents());
        assert.equal(authors.size, 1);

        assert.equal(await page.getByText(`From a ${size}: 1`).count(), 0);
        await page.getByRole("button", { name: "Older posts" }).click();
        await page.getByText(`From a ${size}: 1`).waitFor();
        assert.equal(await page.locator("#posts li").count(), 6);

        await page.getByLabel("An ID of any type").fill([...authors][0]);
        await page.getByRole("button", { name: "Find" }).click();
        await page.locator("#found").waitFor({ state: "visible" });
        assert.equal(JSON.parse(await page.locator("#found").textContent()).name, "Mary");
        if (SCREENSHOTS)
          await page.screenshot({ path: join(SCREENSHOTS, `typed-api-${name}-${size}.png`), fullPage: true });
        const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
        assert.equal(scrollWidth, clientWidth, "it is wider than the window");
        assert.deepEqual(errors, []);

        await page.getByLabel("An ID of any type").fill("usr_0");
        await page.getByRole("button", { name: "Find" }).click();
        await page.getByRole("alert").waitFor();
        assert.equal(await page.getByRole("alert").textContent(), "There is no such ID.");
      });
  });

test("two servers on one Postgres have a node id each, and the database has the numbers", async () => {
  const [, { origin }, other] = copy.running;
  const { write } = await newAuthor(origin);
  const texts = [(await write("of one")).id, (await write("of the other", other.origin)).id];
  const ids = texts.map(typeOf("post").parse);
  assert.deepEqual(ids.map((id) => layout.decode(id).node).sort(), [0, 1]);
  const rows = await database.query("SELECT id FROM posts WHERE id = ANY ($1::bigint[])", [ids]);
  assert.equal(rows.length, 2);
});

test("without a key no server starts, and with another one no text opens", async () => {
  const [{ origin }] = copy.running;
  const { user } = await newAuthor(origin);
  await assert.rejects(
    copy.start("DATA=other node server.mjs"),
    /Error: ID_KEY is not set\. `npx frazil key new` makes one/,
  );
  const other = defineId("usr", {
    public: publicIds({ kind: "usr", keys: [crypto.getRandomValues(new Uint8Array(16))] }),
  });
  const refused = await ask(origin, "posts", { author: other.format(typeOf("usr").parse(user.id)), text: "x" });
  assert.deepEqual([refused.status, refused.field], [400, "author"]);
});

test("a key is changed in the two steps of the README, and servers of neighbouring steps read each other's texts", async (t) => {
  const [, before] = copy.running;
  const { keys } = JSON.parse(readFileSync(join(root, "crates/core/vectors/public.json"), "utf8"));
  const startWith = async (variables) => {
    const line = `${variables} DATABASE_URL=${database.url} PORT=${await freePort()} npm start`;
    const server = await copy.start(line);
    t.after(() => server.stop());
    return server;
  };
  const added = await startWith(`ID_KEY_OTHER=${keys[0].text}`);
  const exchanged = await startWith(`ID_KEY=${keys[0].text} ID_KEY_OTHER=${keyOf()}`);
  const statusOn = async (server, { id }) => (await ask(server.origin, id)).status;
  const [old, between, late] = await Promise.all(
    [before, added, exchanged].map(async ({ origin }) => (await newAuthor(origin)).user),
  );
  for (const server of [before, added, exchanged])
    for (const user of [old, between]) assert.equal(await statusOn(server, user), 200);
  assert.deepEqual([await statusOn(added, late), await statusOn(exchanged, late)], [200, 200]);
  assert.equal(await statusOn(before, late), 404, "the first step is needed");
});

test("a server that has ended starts again with its posts, without --init", async (t) => {
  const [first] = copy.running;
  const { posts } = await ask(first.origin, "posts");
  await first.stop();
  const again = await copy.start("npm start");
  t.after(() => again.stop());
  assert.deepEqual((await ask(again.origin, "posts")).posts, posts);
});
