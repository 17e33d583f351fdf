// The contract of lease stores, with node ids from the tables of UidGenerator and CosId: the source of the numbers does not affect leases.
import { leaseContract } from "frazil/testing/lease-contract";
import { openWithIncarnation } from "../kit/incarnation-table.mjs";
import { withMysql2 } from "../mysql/server.mjs";
import { COSID_MACHINE } from "./old-cosid.mjs";
import { WORKER_NODE } from "./old-uid-generator.mjs";

/**
 * Makes the old table of a scope, with our rows for all of its numbers. So a preferred node id can be granted, and the first window of a
 * number begins at 0, as the contract expects if a store numbers by itself.
 */
const OLD = {
  async UidGenerator(query, { scope }, numbers) {
    const table = scope.replaceAll("-", "_");
    await query(WORKER_NODE.replace("WORKER_NODE", table));
    const insert = (marker) => {
      const rows = numbers.map((number) => `(${number}, '${marker}', UUID(), 2, CURRENT_DATE, NOW(), NOW())`);
      return `SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
        INSERT INTO ${table} (ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ${rows}`;
    };
    return [{ workerNode: table, allowEmpty: true }, insert];
  },
  async CosId(_query, { scope }, numbers) {
    const names = (number) => [4, 8].map((digits) => `${scope}.${String(number).padStart(digits, "0")}`);
    const insert = (marker) => {
      const rows = numbers.flatMap((number) =>
        names(number).map((name) => `('${name}', '${scope}', ${number}, 253402300799999, '${marker}')`),
      );
      return `INSERT INTO cosid_machine (name, namespace, machine_id, last_timestamp, instance_id) VALUES ${rows}`;
    };
    return [{ cosId: { namespace: scope }, allowEmpty: true }, insert];
  },
};

for (const [name, oldTable] of Object.entries(OLD)) {
  // docs/internals/claims.md: 22, 25, 26, 27
  leaseContract({
    name: `node ids of ${name}`,
    async open() {
      let server;
      const query = (sql, values) => server.query(sql, values, "test");
      const opened = await openWithIncarnation({
        ...withMysql2,
        async start(env) {
          server = await withMysql2.start(env);
          for (const ddl of COSID_MACHINE) await query(ddl);
          return server;
        },
      });
      return {
        ...opened,
        async init({ nodes = { from: 0, to: 1023 }, ...scope }) {
          const numbers = Array.from({ length: nodes.to - nodes.from + 1 }, (_, at) => nodes.from + at);
          const [nodeIdsFrom, insert] = await oldTable(query, scope, numbers);
          await opened.store.init({ ...scope, layout: "default", nodeIdsFrom });
          const record = "SELECT node_ids_from AS `from` FROM frazil_scopes WHERE scope = ?";
          const [{ from }] = await query(record, [scope.scope]);
          await query(insert(JSON.parse(from).marker));
          const rows = numbers.map((number) => `('${scope.scope}', ${number}, 0, 0)`);
          await query(`INSERT INTO frazil_leases (scope, node, from_ms, until_ms) VALUES ${rows}`);
          await query("UPDATE frazil_scopes SET node_from = ?, node_to = ?, next_node = ? WHERE scope = ?", [
            nodes.from,
            nodes.to,
            nodes.to + 1,
            scope.scope,
          ]);
        },
      };
    },
  });
}
