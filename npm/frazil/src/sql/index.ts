/** SQL for migrations. */
export { type NextSqlOptions, nextSql } from "./next.js";
