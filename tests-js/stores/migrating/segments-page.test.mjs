// docs/guides/migrating/segments.md: its statements and programs, in order and as printed, beside processes of the old generation that keep
// taking numbers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CosIdSegments, LeafSegments, TinyidSegments } from "frazil/stores/mysql";
import mysql from "mysql2/promise";
import { MySqlServer } from "../mysql/server.mjs";
import { COSID, CosId } from "./old-cosid-segments.mjs";
import { LEAF_ALLOC, Leaf } from "./old-leaf-segments.mjs";
import { TINY_ID_INFO, Tinyid } from "./old-tinyid.mjs";

const page = readFileSync(new URL("../../../docs/guides/migrating/segments.md", import.meta.url), "utf8");

/** The blocks of a section, and where its steps are indented, without that. */
function blocksOf(heading) {
  const [, rest] = page.split(`\n## ${heading}\n`);
  const section = rest.split("\n## ")[0];
  return [...section.matchAll(/^( *)```(js|sql)\n(.*?)^ *```/gms)].map(([, indent, language, text]) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

let server;
before(async () => {
  server = await MySqlServer.start({ "innodb-flush-log-at-trx-commit": 1 });
  await server.query("CREATE USER your_role@'%'");
});
after(() => server?.crash());

let programs = 0;
/** Runs a program of the page, where its packages are found. Resolves to what it prints. */
async function run(text, url, ...args) {
  const file = fileURLToPath(new URL(`of-the-page-${process.pid}-${++programs}.mjs`, import.meta.url));
  writeFileSync(file, text);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], {
      env: { ...process.env, DATABASE_URL: url },
      timeout: 30_000,
    });
    return stdout;
  } finally {
    rmSync(file);
  }
}

/** Takes numbers until it is stopped, or gets no more. Resolves to them, and to why. */
function taking(generator) {
  const numbers = [];
  let isOver = false;
  const done = (async () => {
    try {
      while (!isOver) {
        numbers.push(await generator.next());
        await sleep(1);
      }
      return { numbers };
    } catch (error) {
      return { numbers, error };
    }
  })();
  return {
    stop() {
      isOver = true;
      return done;
    },
  };
}

/** What the page prints once for all: how the numbers go on in `frazil_segments`. */
const [make, grant, , begin] = blocksOf("From Leaf (`leaf_alloc`)").slice(-4);

for (const { heading, Old, Store, ddl, rows, tag, options, closed, refusedWith } of [
  {
    heading: "From Leaf (`leaf_alloc`)",
    ...{ Old: Leaf, Store: LeafSegments, ddl: LEAF_ALLOC, tag: "orders" },
    rows: "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('orders', 1, 2000, 'orders')",
    closed: { errno: 1690 },
    refusedWith: "STORE_REFUSED",
  },
  {
    heading: "From Tinyid (`tiny_id_info`)",
    ...{ Old: Tinyid, Store: TinyidSegments, ddl: TINY_ID_INFO, tag: "orders" },
    rows: `INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, version)
      VALUES ('orders', 1, 1, 100000, 2, 1, 1)`,
    closed: { message: "can not find biztype:orders" },
    refusedWith: "STORE_NOT_INITIALISED",
  },
  {
    heading: "From CosId (`cosid`)",
    ...{ Old: CosId, Store: CosIdSegments, ddl: COSID, tag: "shop.orders" },
    rows: "INSERT INTO cosid (name) VALUES ('shop.orders')",
    options: { step: 100 },
    closed: { errno: 1690 },
    refusedWith: "STORE_REFUSED",
  },
]) {
  test(`${heading}: the blocks run as they are printed, and no number repeats`, async (t) => {
    const database = Old.name.toLowerCase();
    await server.query(`CREATE DATABASE ${database}`);
    await server.query(`${ddl}; ${rows}`, [], database);
    const url = `mysql://root@127.0.0.1:${server.port}/${database}`;
    const poolOf = () => {
      const pool = mysql.createPool({ uri: url, connectionLimit: 8 });
      t.after(() => pool.end());
      return pool;
    };
    const oldPool = poolOf();
    const old = [1, 2].map(() => taking(new Old(oldPool, tag, options)));

    const own = blocksOf(heading);
    const blocks = heading.includes("Leaf") ? own : [make, grant, ...own, begin];
    const fresh = [];
    let program;
    let first;
    for (const { language, text } of blocks) {
      if (language === "sql") {
        const row = await inOrder(text, database);
        first ??= row?.first;
      } else if (text.includes("initSegment")) {
        assert.equal(await run(text.replace('"orders"', `"${tag}"`), url, `${first}`), "");
      } else if (text.includes("migrate()")) {
        assert.equal(await run(text, url), "");
      } else {
        program = text;
        for (let start = 0; start < 3; start++) fresh.push(await run(program, url.replace("root", "your_role")));
      }
    }
    assert.ok(BigInt(first) > 1n, `${first}`);
    await assert.rejects(new Old(oldPool, tag, options).load(), closed);
    const request = {
      tag,
      maxCount: 1000,
      above: 0n,
      failoverSkip: 0,
      holder: "0".repeat(32),
      attempt: "0".repeat(32),
    };
    await assert.rejects(new Store(poolOf()).allocate(request), { code: refusedWith });
    const changed = program.replaceAll(Store.name, "MySqlStore");
    const moved = [];
    for (let start = 0; start < 2; start++) moved.push(await run(changed, url.replace("root", "your_role")));
    assert.equal(moved[0], `${first}n\n`);

    const taken = [];
    for (const side of old) {
      const { numbers, error } = await side.stop();
      // It goes on with what it has, and then gets no more.
      if (error !== undefined) await assert.rejects(Promise.reject(error), closed);
      assert.ok(numbers.length > 100 && numbers.every((number) => number < first), `${numbers.length}`);
      taken.push(...numbers);
    }
    const printed = [...fresh, ...moved].map((text) => Number(/^(\d+)n\n$/.exec(text)[1]));
    const all = [...taken, ...printed];
    assert.equal(new Set(all).size, all.length);
    t.diagnostic(`${taken.length} numbers of the old generation; ${printed}`);
  });
}

/** Runs the statements of a block, and returns the last row that they print. */
async function inOrder(text, database) {
  const client = await mysql.createConnection(server.address({ database, user: "root" }));
  let row;
  try {
    for (const statement of text.split(";").slice(0, -1)) {
      const [result] = await client.query(statement);
      if (Array.isArray(result)) row = result[0];
    }
  } finally {
    await client.end();
  }
  return row;
}
