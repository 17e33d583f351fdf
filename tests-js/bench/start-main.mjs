// A process that loads frazil as the argument says, "import" or "require", and mints its first ID; with "none" it does neither. Prints the
// parts in milliseconds. By the clock of the process, because `performance` is loaded at its first use, which takes 0.7 ms.
import { writeSync } from "node:fs";
import { createRequire } from "node:module";

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const [, , how] = process.argv;
const parts = {};
if (how !== "none") {
  const startedMs = nowMs();
  const { Snowflake } = how === "import" ? await import("frazil") : createRequire(import.meta.url)("frazil");
  const loadedMs = nowMs();
  const ids = new Snowflake({ node: 1 });
  ids.next();
  Object.assign(parts, { load: loadedMs - startedMs, first: nowMs() - loadedMs, backend: ids.backend });
}
const { user, system } = process.cpuUsage();
writeSync(1, JSON.stringify({ ...parts, processor: (user + system) / 1000 }));
