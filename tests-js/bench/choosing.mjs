// What a kind of key costs in Postgres: a sequence, Snowflake IDs of a fleet, UUIDv7 and UUIDv4, as primary keys of tables with the
// same rows, one table after the other. `--rows N` for another number of rows (default: five million).
//
// The keys of the three kinds that programs make come from the same simulated fleet: eight writers, 500 rows a second together, and
// each row arrives up to 50 ms late. So Snowflake IDs and UUIDv7 are nearly in order, as in a fleet, and not exactly.
import { randomBytes, randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { Snowflake } from "frazil";
import pg from "pg";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { conditions, progress, short, table, writeRecord } from "./record.mjs";

const { values } = parseArgs({ options: { rows: { type: "string", default: "5000000" } } });
const ROWS = Number(values.rows);
const BATCH = 20_000;
if (!(Number.isSafeInteger(ROWS) && ROWS > 0 && ROWS % (5 * BATCH) === 0))
  throw new Error(`--rows is ${values.rows}: must be a multiple of ${5 * BATCH}`);
const WRITERS = 8;
const ROW_EVERY_MS = 2;
const LATE_MS = 50;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
/** Rows that were inserted one after the other, and are read by their keys. */
const NEIGHBOURS = 1000;
const PAGE_BYTES = 8192;

let nowMs = START_MS;
const writers = Array.from({ length: WRITERS }, (_, node) => new Snowflake({ node, now: () => nowMs }));

/** A UUIDv7 with random bits behind the time (RFC 9562, 5.7). */
function uuidv7(ms) {
  const hex = ms.toString(16).padStart(12, "0");
  const random = randomBytes(10);
  random[0] = 0x70 | (random[0] & 0x0f);
  random[2] = 0x80 | (random[2] & 0x3f);
  const rest = random.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}

const KINDS = [
  { name: "sequence (`bigint`)", type: "bigint" },
  { name: "Snowflake ID (`bigint`)", type: "bigint", make: () => writers[Math.floor(Math.random() * WRITERS)].next() },
  { name: "UUIDv7 (`uuid`)", type: "uuid", make: uuidv7 },
  { name: "UUIDv4 (`uuid`)", type: "uuid", make: () => randomUUID() },
];

/** That many keys in the order in which their rows arrive, in batches. */
function* batchesOf({ make }, count) {
  let counted = 0n;
  let waiting = [];
  let batch = [];
  nowMs = START_MS;
  for (let made = 0; made < count; made++, nowMs += ROW_EVERY_MS) {
    const key = make === undefined ? ++counted : make(nowMs);
    waiting.push({ key, arrivesMs: make === undefined ? nowMs : nowMs + Math.random() * LATE_MS });
    if (waiting.length < BATCH && made < count - 1) continue;
    waiting.sort((a, b) => a.arrivesMs - b.arrivesMs);
    // What can still be overtaken waits for the next batch.
    const end = made === count - 1 ? waiting.length : waiting.findIndex(({ arrivesMs }) => arrivesMs > nowMs);
    batch = batch.concat(waiting.slice(0, end).map(({ key }) => key));
    waiting = waiting.slice(end);
    while (batch.length >= BATCH) yield batch.splice(0, BATCH);
  }
  if (batch.length > 0) yield batch;
}

// Everything else is as Postgres has it by default: 128 MB of memory for pages, a checkpoint after 1 GB of its log.
const server = await PostgresServer.start({ autovacuum: "off" });
let client;
async function connect() {
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
}
await connect();

const one = async (text, parameters) => (await client.query(text, parameters)).rows[0];
/** Runs a statement and returns its plan, with the pages and the log of all its parts. */
async function explained(text, parameters) {
  const row = await one(`EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, FORMAT JSON) ${text}`, parameters);
  return row["QUERY PLAN"][0];
}

/** Makes the table of a kind and inserts that many rows. */
async function insert(kind, name, count = ROWS) {
  const { type } = kind;
  await client.query(`CREATE TABLE ${name} (id ${type} PRIMARY KEY, account integer NOT NULL, body text NOT NULL)`);
  await client.query("CHECKPOINT");
  const totals = { ms: 0, lastMs: 0, dirtied: 0, logBytes: 0 };
  let inserted = 0;
  for (const keys of batchesOf(kind, count)) {
    const { Plan: plan, "Execution Time": ms } = await explained(
      `INSERT INTO ${name} SELECT id, 1, repeat('x', 60) FROM unnest($1::${type}[]) AS id`,
      [keys],
    );
    inserted += keys.length;
    totals.ms += ms;
    if (inserted > 0.8 * count) totals.lastMs += ms;
    totals.dirtied += plan["Shared Dirtied Blocks"];
    totals.logBytes += plan["WAL Bytes"];
    progress(kind.name, inserted, count);
  }
  if (inserted !== count) throw new Error(`${inserted} rows of ${kind.name} were inserted, not ${count}`);
  return totals;
}

/** The sizes of what was inserted, and how many pages a server that has just started reads for some of it. */
async function look({ type }, name) {
  await client.query(`VACUUM ANALYZE ${name}`);
  const size = async (what) => Number((await one("SELECT pg_relation_size($1) AS bytes", [what])).bytes);
  const [rowBytes, indexBytes] = [await size(name), await size(`${name}_pkey`)];
  const middle = `(${Math.floor(rowBytes / PAGE_BYTES / 2)},1)`;
  const { rows } = await client.query(`SELECT id FROM ${name} WHERE ctid >= $1 LIMIT ${NEIGHBOURS}`, [middle]);
  await client.query(`CREATE INDEX ${name}_brin ON ${name} USING brin (id)`);
  const brinBytes = await size(`${name}_brin`);
  await client.end();
  await server.stop();
  await server.start();
  await connect();
  const { Plan: plan } = await explained(
    `SELECT sum(account) FROM unnest($1::${type}[]) AS key JOIN ${name} ON id = key`,
    [rows.map(({ id }) => id)],
  );
  // As text of one length, keys of each kind sort as they do in the column.
  const keys = rows.map(({ id }) => id).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_pkey`);
  await client.query("SET enable_seqscan = off");
  const { Plan: range } = await explained(`SELECT count(*) FROM ${name} WHERE id BETWEEN $1 AND $2`, [
    keys[0],
    keys.at(-1),
  ]);
  const byBrin = range["Shared Hit Blocks"] + range["Shared Read Blocks"];
  return { rowBytes, indexBytes, brinBytes, pagesRead: plan["Shared Read Blocks"], byBrin };
}

// What Postgres does only once, such as making the files of its log, is not a part of the first kind's time.
await insert(KINDS[0], "warm_up", ROWS / 5);
await client.query("DROP TABLE warm_up");
const results = [];
for (const [at, kind] of KINDS.entries()) {
  const name = `rows_${at}`;
  results.push({ ...kind, ...(await insert(kind, name)), ...(await look(kind, name)) });
  await client.query(`DROP TABLE ${name}`);
}
const { server_version: version } = await one("SHOW server_version");
await client.end();
await server.stop();

const [first] = results;
const mb = (bytes) => short(bytes / 1e6);
const text = `${conditions()}; Postgres ${version.split(" ")[0]} with its defaults, besides autovacuum, which was off. ${ROWS.toLocaleString("en")} rows of each kind, with an integer and a text of 60 characters, in statements of ${BATCH.toLocaleString("en")}. \`npm run bench -- choosing\` repeats it.

${table(
  ["primary key", "its index, MB", "bytes a row", "rows, MB", "log, MB", "pages dirtied", "time", "time, last fifth"],
  results.map((each) => [
    each.name,
    mb(each.indexBytes),
    short(each.indexBytes / ROWS),
    mb(each.rowBytes),
    mb(each.logBytes),
    each.dirtied.toLocaleString("en"),
    short(each.ms / first.ms),
    short(each.lastMs / first.lastMs),
  ]),
)}

The time is that of the statements in the server, as a multiple of the first line. *Pages dirtied*: of the table and the index, each once
after each checkpoint and after each time that it was written.

A server that has just started reads ${NEIGHBOURS.toLocaleString("en")} rows by their keys, which were inserted one after the other:

${table(
  ["primary key", "pages read", "BRIN index, kB", "pages that it reads"],
  results.map((each) => [
    each.name,
    each.pagesRead.toLocaleString("en"),
    short(each.brinBytes / 1e3),
    each.byBrin.toLocaleString("en"),
  ]),
)}

The last column is for all rows from the smallest to the largest of these keys, by a BRIN index in the place of the primary key.

The keys come from a simulated fleet of ${WRITERS} writers that insert ${1000 / ROW_EVERY_MS} rows a second together; each row arrives up to ${LATE_MS} ms late, so only
the sequence is exactly in order.`;
writeRecord("choosing", "Primary keys in Postgres", text);
