// Stores that are broken on purpose: the contract must catch each of them.

/** What each defect changes in a statement. `null`: it is not run. */
const CHANGES = {
  "a write to a row is lost": (sql) => (/^UPDATE frazil_leases/.test(sql) ? null : sql),
  "the fence is lost": (sql) => sql.replace("incarnation = ?, fence_ms = ?", "incarnation = ?, fence_ms = 0 * ?"),
  "the grant of a row does not matter": (sql) => sql.replace(" AND grant_id = ?", " AND ? IS NOT NULL"),
  "rows that are held count as free": (sql) => sql.replace("until_ms <= ?", "until_ms <= 1e18 + ?"),
  "the nonce of a renewal is not written": (sql) =>
    sql.replace("SET until_ms = ?, nonce = ?", "SET until_ms = ?, nonce = coalesce(nonce, ?)"),
  "a window begins at 0": (sql) =>
    sql.replace(
      "SELECT node, from_ms, until_ms,",
      "SELECT node, 0 AS from_ms, CASE WHEN until_ms <= 86400000 * (julianday('now') - 2440587.5) THEN 0 ELSE until_ms END AS until_ms,",
    ),
  "a row is written whatever it is": (sql) =>
    sql.replace("until_ms = ? AND grant_id IS ? AND nonce IS ?", "(? IS NOT NULL OR ? IS NULL OR ? IS NULL)"),
  "a record of a tag is written whatever it is": (sql) =>
    sql.replace(
      "AND next_number = CAST(? AS INTEGER) AND incarnation = ? AND recent = ?",
      "AND ? IS NOT NULL AND ? IS NOT NULL AND ? IS NOT NULL",
    ),
  "the record of a tag is not written": (sql) => (/^UPDATE frazil_segments/.test(sql) ? null : sql),
};

const NOTHING = "SELECT 1 WHERE 0";

/** A statement as the defect makes it. */
const changed = (sql, defect) => CHANGES[defect](sql) ?? NOTHING;

/** The state of an object whose SQL has a defect. */
export function brokenState(ctx, defect) {
  const { storage } = ctx;
  const sql = {
    exec(statement, ...values) {
      const other = changed(statement, defect);
      return storage.sql.exec(other, ...(other === NOTHING ? [] : values));
    },
  };
  const transactionSync = (closure) => storage.transactionSync(closure);
  // The runtime accepts nothing instead of the state itself.
  return Object.defineProperty(ctx, "storage", { value: { sql, transactionSync } });
}

/** A database whose statements have a defect, if one is given. */
export function brokenDatabase(database, defect) {
  if (defect === undefined) return database;
  return {
    prepare(sql) {
      const other = changed(sql, defect);
      const statement = database.prepare(other);
      return other === NOTHING ? { bind: () => statement } : statement;
    },
    batch: (statements) => database.batch(statements),
  };
}
