// A process that mints its first ID, prints the time that took since its start, and ends like a crash.
import { writeSync } from "node:fs";
import { Snowflake } from "frazil";

const [dir] = process.argv.slice(2);
const ids = dir === undefined ? new Snowflake({ node: 1 }) : Snowflake.local({ dir });
ids.next();
writeSync(1, String(performance.now()));
process.kill(process.pid, "SIGKILL");
