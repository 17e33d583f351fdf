// The tables, in SQL that both SQLite (D1) and Postgres run. IDs go in and come out as text: database drivers return 64-bit numbers as
// JavaScript numbers, which have 53 bits, or cannot bind a bigint.
import { readIds, toSql } from "frazil/transport";

/** The most rows that a statistic reads from a table, so its cost does not grow with the table. */
export const MOST_ROWS = 10_000;

/** `?1` is the first value. Each statement gets the bigint as text, and casts it. */
const ADD = `INSERT INTO links (id, url, alias, expires_at_ms) VALUES (CAST(?1 AS BIGINT), ?2, ?3, CAST(?4 AS BIGINT))
ON CONFLICT (alias) DO NOTHING RETURNING id`;
const COLUMNS = `CAST(id AS TEXT) AS id, url, alias, CAST(expires_at_ms AS TEXT) AS expires_at_ms, CAST(visits AS TEXT) AS visits`;
const BY_ID = `SELECT ${COLUMNS} FROM links WHERE id = CAST(?1 AS BIGINT)`;
const BY_ALIAS = `SELECT ${COLUMNS} FROM links WHERE alias = ?1`;
const RECENT = `SELECT ${COLUMNS} FROM links ORDER BY links.id DESC LIMIT CAST(?1 AS BIGINT)`;
const ADD_VISIT = `INSERT INTO visits (id, link_id) VALUES (CAST(?1 AS BIGINT), CAST(?2 AS BIGINT))`;
// A count in the row, because counting visits would read each of them whenever links are listed.
const COUNT_VISIT = `UPDATE links SET visits = visits + 1 WHERE id = CAST(?1 AS BIGINT)`;
/** The number of rows with an ID in each span of the range. The time is in the ID, so this is a range of the primary key. */
const perSpan = (
  table,
) => `SELECT CAST((id - CAST(?1 AS BIGINT)) / CAST(?3 AS BIGINT) AS TEXT) AS span, CAST(count(*) AS TEXT) AS rows_in_it
FROM (SELECT id FROM ${table} WHERE id >= CAST(?1 AS BIGINT) AND id < CAST(?2 AS BIGINT) ORDER BY id DESC LIMIT ${MOST_ROWS}) AS newest
GROUP BY 1`;
/**
 * Takes a link from the share of a client, if one is left. Each moves `used_until_ms` on by `?2`, at least from the present; beyond `?3`
 * from the present, the share is used up. In one statement, so two concurrent requests cannot both take the last one. The present is the
 * database's, because server clocks differ.
 */
const take = (nowMs) => `INSERT INTO clients (client, used_until_ms) VALUES (?1, ${nowMs} + CAST(?2 AS BIGINT))
ON CONFLICT (client) DO UPDATE SET used_until_ms = CAST(?2 AS BIGINT) +
  CASE WHEN clients.used_until_ms > ${nowMs} THEN clients.used_until_ms ELSE ${nowMs} END
WHERE clients.used_until_ms <= ${nowMs} + CAST(?3 AS BIGINT) RETURNING client`;
const forget = (nowMs) => `DELETE FROM clients WHERE used_until_ms < ${nowMs}`;

function linkOf(row) {
  if (row === undefined) return undefined;
  const { id, url, alias, expires_at_ms: expiresAt, visits } = readIds(row, "id");
  return { id, url, alias, expiresAtMs: expiresAt === null ? null : Number(expiresAt), visits: Number(visits) };
}

/** The database. `run(sql, values)` resolves to the rows. `nowMs` is the SQL of its Unix time in milliseconds. */
export const linksIn = (run, { nowMs }) => ({
  /** Stores a link. Resolves to whether its alias was free. */
  async add({ id, url, alias, expiresAtMs }) {
    const rows = await run(ADD, [toSql(id), url, alias, expiresAtMs === null ? null : String(expiresAtMs)]);
    return rows.length === 1;
  },
  byId: async (id) => linkOf((await run(BY_ID, [toSql(id)]))[0]),
  byAlias: async (alias) => linkOf((await run(BY_ALIAS, [alias]))[0]),
  recent: async (count) => (await run(RECENT, [String(count)])).map(linkOf),
  async addVisit(id, linkId) {
    await run(ADD_VISIT, [toSql(id), toSql(linkId)]);
    await run(COUNT_VISIT, [toSql(linkId)]);
  },
  /** The number of the newest links and visits with an ID in each of the spans from `fromId` to below `untilId`. */
  async perSpan(fromId, untilId, span) {
    const counted = async (table) => {
      const rows = await run(perSpan(table), [toSql(fromId), toSql(untilId), String(span)]);
      return new Map(rows.map((row) => [Number(row.span), Number(row.rows_in_it)]));
    };
    return { links: await counted("links"), visits: await counted("visits") };
  },
  /** Whether a client may make a link: `burst` at once, and one more each `eachMs`. */
  async take(client, { burst, eachMs }) {
    const rows = await run(take(nowMs), [client, String(eachMs), String((burst - 1) * eachMs)]);
    return rows.length === 1;
  },
  /** Deletes the clients whose whole share is available again. */
  forget: async () => void (await run(forget(nowMs), [])),
});
