// The store of the processes of Frazil in a fleet, with broken variants that send another statement than the store meant, so that the
// checker has something to catch.
import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";

/** What each one changes in a statement and its values. */
const CHANGES = {
  /** A new node id is the number of the process of UidGenerator whose row is the oldest, as if a row that is not refreshed were free. */
  "takes rows of UidGenerator": (sql, values) =>
    /^INSERT INTO `?WORKER_NODE/.test(sql)
      ? [
          "UPDATE WORKER_NODE SET HOST_NAME = ? WHERE HOST_NAME NOT LIKE 'frazil:%' ORDER BY MODIFIED, ID LIMIT 1",
          [values.find((value) => /^frazil:/.test(value))],
        ]
      : [sql, values],
  /**
   * A row of `cosid_machine` has the time when it was made, as a row of CosId has whose process is not there any more, and is not
   * looked at again.
   */
  "leaves rows to CosId": (sql, values) => [
    sql.replaceAll(/CONVERT\(o\.instance_id USING utf8mb4\) COLLATE utf8mb4_bin = \?/g, "? IS NOT NULL"),
    values?.map((value) => (value === 253402300799999 ? Date.now() : value)),
  ],
};

/** A store at an address. `broken`: the change to its statements. */
export async function connectStore({ url, broken }) {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 });
  return { store: new MySqlStore(broken === undefined ? pool : brokenPool(pool, broken)) };
}

/** A pool, or a connection of it, that changes statements on their way. */
function brokenPool(pool, name) {
  const change = CHANGES[name];
  return new Proxy(pool, {
    get(target, key) {
      const value = target[key];
      if (typeof value !== "function") return value;
      // The store takes the connection of each statement itself.
      if (key === "getConnection") return async () => brokenPool(await value.call(target), name);
      if (key !== "query") return value.bind(target);
      return (statement, values) => {
        const [sql, changed] = change(statement.sql, values);
        return value.call(target, { ...statement, sql }, changed);
      };
    },
  });
}
