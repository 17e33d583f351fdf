// Clocks that tests move, each of one process: a library that the process loads first answers its calls of the C library. Not for Go
// programs, which ask the kernel without the C library.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tools } from "../../scripts/tools.mjs";
import { preloadedLibrary, readableFolder } from "./preloaded.mjs";

let files = 0;
/** A file of a clock. Servers that run as another user read it. */
const newFile = () => join(readableFolder(), `clock-${++files}`);

/** Writes the offset of a clock of libfaketime from the real time. */
export function setOffset(file, offsetMs) {
  // Atomic, so that the process does not read half a number.
  writeFileSync(`${file}.new`, `${offsetMs < 0 ? "" : "+"}${(offsetMs / 1000).toFixed(3)}\n`);
  renameSync(`${file}.new`, file);
}

/**
 * A clock for one process: `env` is for it, `set` moves the clock to this many milliseconds from the real time, and `jump` moves it from
 * where it is. `library`: the libfaketime (default: the one for servers; Node needs `tools.faketime`).
 *
 * Not for a process whose handlers of signals ask for the time, such as Postgres: libfaketime reads the offset from a file at every call,
 * which takes memory. A Postgres whose statements reached their time-out crashed within seconds.
 */
export function faketimeClock({ library = tools.serverFaketime, offsetMs = 0 } = {}) {
  const file = newFile();
  const set = (ms) => {
    offsetMs = ms;
    setOffset(file, offsetMs);
  };
  set(offsetMs);
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
  return { env, set, jump: async (ms) => set(offsetMs + ms) };
}

/**
 * Clocks of one process that handlers of signals may read: by how much its wall clock and its boot clock are ahead of the real ones.
 * `env` is for the process, `set` sets both clocks, and `jump` moves the wall clock from where it is. Waits until a time of the wall
 * clock do not follow it, as they do with libfaketime.
 */
export function mappedClocks({ wallMs = 0, bootMs = 0 } = {}) {
  const file = newFile();
  let ahead = { wallMs, bootMs };
  function set({ wallMs = 0, bootMs = 0 }) {
    ahead = { wallMs, bootMs };
    const nanos = BigInt64Array.of(BigInt(wallMs) * 1_000_000n, BigInt(bootMs) * 1_000_000n);
    // In place: the process has mapped the file.
    writeFileSync(file, new Uint8Array(nanos.buffer), { flag: "r+" });
  }
  writeFileSync(file, "");
  set(ahead);
  const env = { LD_PRELOAD: preloadedLibrary(new URL("mapped-clocks.c", import.meta.url)), CLOCKS: file };
  return { env, set, jump: async (ms) => set({ ...ahead, wallMs: ahead.wallMs + ms }) };
}
