// A process that mints its first ID, says how long that took from its start, and ends as a crash does.
import { writeSync } from "node:fs";
import { Snowflake } from "frazil";

const [dir] = process.argv.slice(2);
const ids = dir === undefined ? new Snowflake({ node: 1 }) : Snowflake.local({ dir });
ids.next();
writeSync(1, String(performance.now()));
process.kill(process.pid, "SIGKILL");
