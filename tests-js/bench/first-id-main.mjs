// A process that mints its first ID and prints the time that took since its start, with its parts. Then it ends like a crash, or as the
// second argument says: "close" closes the generator, as a handler of SIGTERM does; "wait" waits to be killed. The first argument is
// the folder of a state file, or empty for a static node id.
import { writeSync } from "node:fs";

const startedMs = performance.now();
const { Snowflake } = await import("frazil");
const importedMs = performance.now();
const [dir, end] = process.argv.slice(2);
const ids = dir ? Snowflake.local({ dir }) : new Snowflake({ node: 1 });
const openedMs = performance.now();
ids.next();
const mintedMs = performance.now();
writeSync(1, JSON.stringify({ startedMs, importedMs, openedMs, mintedMs, backend: ids.backend }));
if (end === "wait") setInterval(() => ids.next(), 200);
else if (end === "close") {
  ids.close();
  process.exit();
} else process.kill(process.pid, "SIGKILL");
