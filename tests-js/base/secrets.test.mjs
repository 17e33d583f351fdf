// Messages must not contain values of unknown options, which may be passwords, or endless texts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { D1Store } from "frazil/stores/d1";
import { EtcdStore } from "frazil/stores/etcd";
import { MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import { RedisStore } from "frazil/stores/redis";
import { SqliteStore } from "frazil/stores/sqlite";
import { LeafStore, ZooKeeperStore } from "frazil/stores/zookeeper";
import { MemoryLeaseStore, seededIds } from "frazil/testing";
import { base62 } from "frazil/text";
import { wholeText } from "./rule-texts.mjs";

const node = 945;
const secret = "hunter2";
const url = `postgres://u:${secret}@h/db`;
const ids = seededIds();
const layout = Layout.named("default");
class Config {
  password = secret;
}

/** Where an error shows a text: in its message, where Node prints it, as JSON, and in what a logger copies from it. */
function shownBy(error) {
  const copied = {};
  for (const name in error) copied[name] = error[name];
  return [
    error.message,
    `${error.hint}`,
    error.stack,
    inspect(error, { depth: 9 }),
    JSON.stringify(error),
    inspect(copied, { depth: 9 }),
  ];
}

async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

const CALLS = {
  "an option that is not known": () => new Snowflake({ node, databaseUrl: url }),
  "options that are a text": () => new Snowflake(url),
  "an environment": () => new Snowflake({ ...{ DATABASE_URL: url } }),
  "an object as an option that is not known": () => new Snowflake({ node, database: { password: secret } }),
  "an instance": () => new Snowflake(new Config()),
  local: () => Snowflake.local({ url }),
  "local with a text": () => Snowflake.local(url),
  localAsync: () => Snowflake.localAsync({ url }),
  nextAsync: () => ids.nextAsync({ token: secret }),
  "nextAsync with a text": () => ids.nextAsync(url),
  "a signal": () => ids.nextAsync({ signal: new Config() }),
  "a layout with another key": () => new Snowflake({ node, layout: { password: secret } }),
  "a new layout": () => new Layout({ password: secret }),
  "a layout that is a text": () => new Layout(url),
  "changes of a layout": () => layout.with({ password: secret }),
  "a node id": () => new Snowflake({ node: { password: secret } }),
  compose: () => layout.compose({ password: secret }),
  "an instance as a node id": () => new Snowflake({ node: new Config() }),
  fill: () => ids.fill(new Config()),
  seededIds: () => seededIds({ password: secret }),
  lease: () => lease({ acquire() {}, renew() {}, release() {}, ensure() {} }, { password: secret }),
};

// The texts in the options of a store may be what connects to it. Those of generators are names, and are shown.
const client = { query() {}, execute() {} };
const zookeeper = () => assert.fail("it connects");
const STORES = {
  "etcd: endpoints": () => new EtcdStore({ endpoints: [url] }),
  "etcd: one endpoint": () => new EtcdStore({ endpoints: url }),
  "etcd: an endpoint with a password": () => new EtcdStore({ endpoints: [`https://u:${secret}@h`] }),
  "etcd: a token": () => new EtcdStore({ endpoints: ["http://h"], token: secret }),
  "etcd: a password alone": () => new EtcdStore({ endpoints: ["http://h"], password: secret }),
  "etcd: a user and a token": () => new EtcdStore({ endpoints: ["http://h"], username: secret }),
  "etcd: headers": () => new EtcdStore({ endpoints: ["http://h"], headers: [secret] }),
  "etcd: a header that is none": () =>
    new EtcdStore({ endpoints: ["http://h"], headers: { [`a ${secret}`]: `${secret}` } }),
  "etcd: prefix": () => new EtcdStore({ endpoints: ["http://h"], prefix: `"${url}"` }),
  "etcd: timeoutMs": () => new EtcdStore({ endpoints: ["http://h"], timeoutMs: secret }),
  "postgres: the client": () => new PostgresStore(url),
  "postgres: schema": () => new PostgresStore(client, { schema: url }),
  "postgres: incarnation": () => new PostgresStore(client, { incarnation: { secret } }),
  "mysql: the client": () => new MySqlStore(url),
  "mysql: database": () => new MySqlStore(client, { database: url }),
  "mysql: workerNode": () =>
    new MySqlStore(client).init({ scope: "s", layout: "twitter", nodeIdsFrom: { workerNode: url } }),
  "redis: the client": () => new RedisStore(url),
  "redis: incarnation": () => new RedisStore({ sendCommand() {} }, { incarnation: url }),
  "sqlite: the client": () => new SqliteStore(url),
  "zookeeper: the client": () => new ZooKeeperStore(url),
  "zookeeper: prefix": () => new ZooKeeperStore(zookeeper, { prefix: url }),
  "zookeeper: incarnation": () => new ZooKeeperStore(zookeeper, { incarnation: url }),
  "zookeeper: acl": () => new ZooKeeperStore(zookeeper, { acl: url }),
  "leaf: leafName": () => new LeafStore(zookeeper, { leafName: url }),
  "d1: the client": () => new D1Store(url),
  "memory: now": () => new MemoryLeaseStore({ now: url }),
  "a lease of a text": () => lease(url),
  "a segment of a text": () => new Segment(url, { tag: "t" }),
};

for (const [name, call] of Object.entries(STORES)) {
  test(`a secret is not shown by a store: ${name}`, async () => {
    const error = await errorOf(call);
    assert.match(error.code, /^INVALID_/, error.stack);
    for (const shown of shownBy(error)) assert.ok(!shown.includes(secret), shown);
    assert.ok(!`${error.value}`.includes(secret));
  });
}

for (const [name, call] of Object.entries(CALLS)) {
  test(`a secret is not shown: ${name}`, async () => {
    const error = await errorOf(call);
    assert.match(error.code, /^(INVALID_|NODE_REQUIRED)/, error.stack);
    for (const shown of shownBy(error)) assert.ok(!shown.includes(secret), shown);
    assert.ok(!`${error.value}`.includes(secret));
  });
}

test("the name of an option is told, and what kind of value it has; the value of a known one is told too", async () => {
  const { message, field, rule } = await errorOf(CALLS["an option that is not known"]);
  assert.equal(message, 'INVALID_OPTION: unknown option "databaseUrl"');
  assert.equal(field, "databaseUrl");
  assert.ok(message.endsWith(rule));
  assert.match(
    (await errorOf(() => new Snowflake(url))).message,
    /^INVALID_OPTION: options must be a plain object, got a string$/,
  );
  const { hint, value } = await errorOf(() => new Snowflake({ machineId: 5 }));
  assert.deepEqual([hint, value], ['Did you mean "node"?', 5]);
  const object = { region: 1 };
  const error = await errorOf(() => new Snowflake({ node: object }));
  assert.equal(typeof error.value, "object");
  assert.ok(!Object.keys(error).includes("value"));
  assert.equal((await errorOf(() => new Snowflake({ node: "web-7" }))).value, "web-7");
});

test("messages are short, whatever is in them", async () => {
  const long = "k".repeat(1e6);
  class Long {}
  Object.defineProperty(Long, "name", { value: long });
  for (const [name, call] of Object.entries({
    key: () => new Snowflake({ node, [long]: 1 }),
    "node part": () => new Snowflake({ node: { [long]: 1 } }),
    class: () => new Snowflake(new Long()),
    symbol: () => new Snowflake({ node: Symbol(long) }),
    bigint: () => new Snowflake({ node: 10n ** 100_000n }),
    "layout key": () => new Layout({ [long]: 1 }),
    "keys of an object": () => new Snowflake({ node, epochMs: { [long]: 1 } }),
    text: () => new Snowflake({ node: long }),
    layout: () => new Snowflake({ node, layout: long }),
    store: () => lease({ [long]: 1 }),
    "store class": () => lease(new Long()),
  })) {
    const error = await errorOf(call);
    assert.ok(error.message.length < 1000, `${name}: ${error.message.length}`);
    assert.ok(JSON.stringify(error).length < 2000, name);
  }
});

test("an object in the place of an ID is an object, whatever it has and whether it can be looked at", () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  for (const row of [{ id: 5n, password: secret }, new Config(), proxy, [secret]]) {
    for (const call of [layout.decode, layout.parse, layout.timestampOf, layout.toSigned].map((call) =>
      call.bind(layout),
    ))
      assert.throws(() => call(row), {
        message: /^INVALID_ID: id must be .*, got an object$/,
        hint: /^Pass its id\. /,
      });
    assert.throws(() => base62.encode(row), {
      message: /^INVALID_ID: id must be .*, got an object$/,
      hint: /^Pass its id\. /,
    });
  }
});

test("a bigint of more than 64 bits is not written in digits, which takes seconds", () => {
  const huge = 2n ** 20_000_000n;
  const startMs = performance.now();
  for (const value of [huge, -huge])
    assert.throws(() => base62.encode(value), /INVALID_ID: id must be .*, got a bigint of more than 64 bits/);
  assert.ok(performance.now() - startMs < 1000);
  assert.throws(() => layout.decode(2n ** 64n - 1n), /id must be .*, got 18446744073709551615n$/);
  assert.throws(() => layout.decode(-1n), /id must be .*, got -1n$/);
});

test("texts are cut between characters, and control characters in names are escapes", () => {
  const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  for (const call of [
    () => base62.decode(`${"x".repeat(63)}\u{1f600}${"y".repeat(9)}`),
    () => new Snowflake({ node, [`${"x".repeat(63)}\u{1f600}yyyyyyy`]: 1 }),
  ])
    assert.throws(call, (error) => !halves.test(wholeText(error)) && error.message.includes("\u{1f600}…"));
  assert.throws(
    () => new Snowflake({ node, "a\nFAKE LINE\u001b[31m": 1 }),
    (error) => {
      assert.ok(error.message.endsWith('unknown option "a\\nFAKE LINE\\u001b[31m"'), error.message);
      assert.ok(!/\p{Cc}/u.test(wholeText(error) + error.field));
      return true;
    },
  );
});
