// Clocks that tests move, each of one process: libfaketime adds an offset to the time that the process asks the C library for. It
// reads the offset from a file at every call. Not for Go programs, which ask the kernel without the C library.
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tools } from "../scripts/tools.mjs";

/** Writes the offset of a clock from the real time. */
export function setOffset(file, offsetMs) {
  // Atomic, so that the process does not read half a number.
  writeFileSync(`${file}.new`, `${offsetMs < 0 ? "" : "+"}${(offsetMs / 1000).toFixed(3)}\n`);
  renameSync(`${file}.new`, file);
}

let folder;
let clocks = 0;
/** A file of a clock, removed when this process ends. Servers that run as another user read it. */
function newFile() {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), "frazil-clocks-"));
    chmodSync(folder, 0o755);
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  }
  return join(folder, `clock-${++clocks}`);
}

/**
 * A clock for one process: `env` is for it, `set` moves the clock to so many milliseconds from the real time, and `jump` moves it
 * from where it is. `library`: the libfaketime (default: the one for servers; Node needs `tools.faketime`).
 */
export function movableClock({ library = tools.serverFaketime, offsetMs = 0 } = {}) {
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
