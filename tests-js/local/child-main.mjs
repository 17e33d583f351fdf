// The program of a child process that executes the commands of its parent: open, mint, close. `child-process.mjs` starts it.
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { Snowflake } from "frazil";
import { wholeText } from "../base/rule-texts.mjs";

let ids;
let minting;

/** Mints a few IDs every millisecond and writes them to a file at once, so that they survive `kill -9`. */
function mintEveryMs({ file, burst = 20 }) {
  const descriptor = openSync(file, "a");
  const state = { issued: 0, codes: {}, message: undefined };
  const timer = setInterval(() => {
    const issued = [];
    try {
      while (issued.length < burst) issued.push(ids.next());
    } catch (error) {
      state.codes[error.code] = (state.codes[error.code] ?? 0) + 1;
      state.message = wholeText(error);
    }
    state.issued += issued.length;
    if (issued.length > 0) writeSync(descriptor, new Uint8Array(BigUint64Array.from(issued).buffer));
  }, 1);
  const stop = () => {
    clearInterval(timer);
    closeSync(descriptor);
  };
  return { state, stop };
}

const commands = {
  open(options) {
    ids = Snowflake.local(options);
    return ids.health().file;
  },
  /** Opens that many generators at the same time, and reports how each refusal came, and after how long. */
  async openTogether(count, options) {
    const refusals = [];
    const began = performance.now();
    const open = () => Snowflake.localAsync(options);
    const refused = ({ code }) => {
      refusals.push({ code, ms: performance.now() - began });
    };
    const opened = await Promise.all(Array.from({ length: count }, () => open().catch(refused)));
    ids = opened.find((generator) => generator !== undefined);
    return refusals;
  },
  openStatic(options) {
    ids = new Snowflake(options);
  },
  next: (count) => Array.from({ length: count }, () => ids.next()),
  /** Opens, mints an ID and closes, `count` times. `aheadMs` is the farthest that the ceiling lay ahead of the clock. */
  restart(options, count) {
    const issued = [];
    let aheadMs = 0;
    for (let run = 0; run < count; run++) {
      const each = Snowflake.local(options);
      issued.push(each.next());
      aheadMs = Math.max(aheadMs, each.health().file.ceilingMs - Date.now());
      each.close();
    }
    return { issued, aheadMs };
  },
  mint(task) {
    minting = mintEveryMs(task);
  },
  minted: () => minting.state,
  stop: () => minting.stop(),
  health() {
    const { refusal, ...rest } = ids.health();
    return { refusal: refusal?.toJSON(), ...rest };
  },
  stats: () => ids.stats(),
  /** The kernel's view of the process. */
  status: () => readFileSync("/proc/self/status", "utf8"),
  close: () => ids.close(),
  /** Stops the clock that JavaScript reads. */
  freezeClock(ms) {
    Date.now = () => ms;
  },
  /** Fills the disk to its last block. */
  fillDisk(file) {
    for (let size = 2 ** 16; size >= 1; size /= 2) {
      try {
        for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
      } catch (error) {
        if (error.code !== "ENOSPC") throw error;
      }
    }
  },
  async shell(command) {
    const { execFileSync } = await import("node:child_process");
    return execFileSync("sh", ["-ec", command], { encoding: "utf8" });
  },
  exit: (code) => process.exit(code),
};

process.on("message", async ({ number, command, args }) => {
  try {
    process.send({ number, value: await commands[command](...args) });
  } catch (error) {
    // As a plain object: the structured clone of an error loses its own fields.
    const { name, message, code } = error;
    process.send({ number, error: { ...error, name, message, code, cause: undefined } });
  }
});
process.on("disconnect", () => process.exit());
process.send({ number: 0 });
