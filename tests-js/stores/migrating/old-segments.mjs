// What the segment generators of the old generation share: a row of a table, read and moved up in one transaction.

/**
 * Runs the statements of a transaction as their programs do: with autocommit off, and a COMMIT at the end. `run(query)` gets a call
 * that resolves to the result of one statement.
 */
export async function inTransaction(pool, run, { isolation = "REPEATABLE READ" } = {}) {
  const connection = await pool.getConnection();
  const query = async (sql, values) => (await connection.query(sql, values))[0];
  try {
    await query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`);
    await query("SET autocommit = 0");
    const result = await run(query);
    await query("COMMIT");
    connection.release();
    return result;
  } catch (error) {
    // The server rolls back.
    connection.destroy();
    throw error;
  }
}
