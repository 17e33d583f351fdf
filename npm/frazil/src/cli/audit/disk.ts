/** Temporary files, for the engine on WebAssembly. The addon has the same in Rust. */
import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** `O_TEMPORARY` of Windows, where an open file cannot be removed: it is, when it closes. Node has no name for it. */
const REMOVED_ON_CLOSE = 0x40;
const isWindows = process.platform === "win32";
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (isWindows ? REMOVED_ON_CLOSE : 0);

/** A file for each run. It has no name once it is open, so nothing is left of it, however the process ends. */
export class TemporaryFiles {
  readonly #files = new Map<number, number>();

  constructor(readonly folder: string) {}

  append(run: number, bytes: Uint8Array): void {
    const file = this.#files.get(run) ?? this.#open();
    this.#files.set(run, file);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  }

  /** Reads into `bytes`, as many as the file has from `offset` on. Returns how many. */
  read(run: number, offset: number, bytes: Uint8Array): number {
    return readSync(this.#files.get(run) as number, bytes, 0, bytes.length, offset);
  }

  discard(run: number): void {
    const file = this.#files.get(run);
    if (file !== undefined) closeSync(file);
    this.#files.delete(run);
  }

  #open(): number {
    const path = join(this.folder, `frazil-audit-${crypto.randomUUID()}`);
    const file = openSync(path, FLAGS, 0o600);
    if (!isWindows) unlinkSync(path);
    return file;
  }
}
