import { MySqlStore } from "frazil/stores/mysql";
import mysql from "mysql2/promise";

const store = new MySqlStore(mysql.createPool(process.env.DATABASE_URL));

import { createInterface } from "node:readline";
import { lease } from "frazil/lease";

const ids = await lease(store, { scope: process.argv[2], windowMs: 3000, renew: "calls" });
let refused = 0;
ids.on("refused", () => refused++);
console.log("{}");
for await (const _ of createInterface({ input: process.stdin })) {
  await ids.ready();
  console.log(JSON.stringify({ id: ids.nextString(), refused }));
}
await ids.close();
