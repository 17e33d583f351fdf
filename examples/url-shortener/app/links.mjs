// The tables, by SQL that SQLite (D1) and Postgres both run. IDs go in as text and come out as text: drivers of databases return
// 64-bit numbers as JavaScript numbers, which have 53 bits, or cannot bind a bigint.

/** `?1` is the first value. Each statement has the bigint in it as text, and casts it. */
const ADD = `INSERT INTO links (id, url, alias, expires_at_ms) VALUES (CAST(?1 AS BIGINT), ?2, ?3, CAST(?4 AS BIGINT))
ON CONFLICT (alias) DO NOTHING RETURNING id`;
const COLUMNS = `CAST(id AS TEXT) AS id, url, alias, CAST(expires_at_ms AS TEXT) AS expires_at_ms`;
const BY_ID = `SELECT ${COLUMNS} FROM links WHERE id = CAST(?1 AS BIGINT)`;
const BY_ALIAS = `SELECT ${COLUMNS} FROM links WHERE alias = ?1`;
const RECENT = `SELECT ${COLUMNS}, CAST((SELECT count(*) FROM visits WHERE link_id = links.id) AS TEXT) AS visits
FROM links ORDER BY links.id DESC LIMIT CAST(?1 AS BIGINT)`;
const ADD_VISIT = `INSERT INTO visits (id, link_id) VALUES (CAST(?1 AS BIGINT), CAST(?2 AS BIGINT))`;
/** How many rows have their ID in each span of the range. The time is in the ID, so this is a range of the primary key. */
const perSpan = (
  table,
) => `SELECT CAST((id - CAST(?1 AS BIGINT)) / CAST(?3 AS BIGINT) AS TEXT) AS span, CAST(count(*) AS TEXT) AS rows_in_it
FROM ${table} WHERE id BETWEEN CAST(?1 AS BIGINT) AND CAST(?2 AS BIGINT) GROUP BY 1`;
const COUNT = `INSERT INTO clients (client, slot, made) VALUES (?1, CAST(?2 AS BIGINT), 1)
ON CONFLICT (client) DO UPDATE SET made = CASE WHEN clients.slot = excluded.slot THEN clients.made + 1 ELSE 1 END, slot = excluded.slot
RETURNING CAST(made AS TEXT) AS made`;
const FORGET = `DELETE FROM clients WHERE slot < CAST(?1 AS BIGINT)`;

function linkOf(row) {
  if (row === undefined) return undefined;
  const { id, url, alias, expires_at_ms: expiresAt, visits } = row;
  return {
    id: BigInt(id),
    url,
    alias,
    expiresAtMs: expiresAt === null ? null : Number(expiresAt),
    ...(visits !== undefined && { visits: Number(visits) }),
  };
}

/** The database. `run(sql, values)` resolves to the rows. */
export const linksIn = (run) => ({
  /** Stores a link. Resolves to whether its alias was free. */
  async add({ id, url, alias, expiresAtMs }) {
    const rows = await run(ADD, [String(id), url, alias, expiresAtMs === null ? null : String(expiresAtMs)]);
    return rows.length === 1;
  },
  byId: async (id) => linkOf((await run(BY_ID, [String(id)]))[0]),
  byAlias: async (alias) => linkOf((await run(BY_ALIAS, [alias]))[0]),
  recent: async (count) => (await run(RECENT, [String(count)])).map(linkOf),
  addVisit: async (id, linkId) => void (await run(ADD_VISIT, [String(id), String(linkId)])),
  /** How many links and visits have their ID in each of the spans from `first` to `last`. */
  async perSpan(first, last, span) {
    const counted = async (table) => {
      const rows = await run(perSpan(table), [String(first), String(last), String(span)]);
      return new Map(rows.map((row) => [Number(row.span), Number(row.rows_in_it)]));
    };
    return { links: await counted("links"), visits: await counted("visits") };
  },
  /** Counts a link of a client. Resolves to how many it made in this slot of time. */
  count: async (client, slot) => Number((await run(COUNT, [client, String(slot)]))[0].made),
  /** Deletes the counts of earlier slots. */
  forget: async (slot) => void (await run(FORGET, [String(slot)])),
});
