// Stores that are broken on purpose: the contract must catch each of them.

/** What each defect changes in a statement. `null`: it is not run. */
const CHANGES = {
  "a write to a row is lost": (sql) => (/^UPDATE frazil_leases/.test(sql) ? null : sql),
  "a fence is lost": (sql) => (/^UPDATE frazil_scopes SET (incarnation|fence_ms)/.test(sql) ? null : sql),
  "the grant of a row does not matter": (sql) => sql.replace(" AND grant_id = ?", " AND ? IS NOT NULL"),
  "rows that are held count as free": (sql) => sql.replace(/until_ms <= (\?|\(SELECT .*?\))/s, "until_ms <= 1e18 + $1"),
  "a record of a tag is written whatever it is": (sql) =>
    sql.replace("next_number = CAST(? AS INTEGER) AND recent = ? AND", "? IS NOT NULL AND ? IS NOT NULL AND"),
  "the record of a tag is not written": (sql) => (/^UPDATE frazil_segments/.test(sql) ? null : sql),
};

export const DEFECTS = Object.keys(CHANGES);

const NOTHING = "SELECT 1 WHERE 0";

/** A statement as the defect makes it. One that is not run keeps its values, so that they can be bound. */
function changed(sql, defect) {
  const statement = CHANGES[defect](sql);
  if (statement !== null) return statement;
  return NOTHING;
}

/** The state of an object whose SQL has a defect. */
export function brokenState(ctx, defect) {
  const sql = {
    exec(statement, ...values) {
      const other = changed(statement, defect);
      return ctx.storage.sql.exec(other, ...(other === NOTHING ? [] : values));
    },
  };
  return new Proxy(ctx, {
    get(target, name) {
      if (name !== "storage") return Reflect.get(target, name);
      return { sql, transactionSync: (closure) => target.storage.transactionSync(closure) };
    },
  });
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
