// A process that does nothing, and prints the time since its start: what a process takes that mints, without minting.
import { writeSync } from "node:fs";

writeSync(1, String(performance.now()));
