/** The files of an audit, and standard input: their bytes in pieces, unpacked where they are gzip. */
import { createReadStream, fstatSync, statSync } from "node:fs";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { quoted } from "../hints.js";
import { shownArgument, UsageError } from "../usage-error.js";

/** The length of a piece, in bytes. */
const PIECE = 1 << 20;

export interface Source {
  /** As a message names it. */
  readonly name: string;
  /** The length, in bytes, if it is known. */
  readonly bytes: number | undefined;
  /** Whether it can be read twice. */
  readonly isFile: boolean;
  open(): Readable;
}

/** An error of the system, for a file. */
const unreadable = (name: string, error: unknown) => new UsageError(`cannot read ${name}: ${(error as Error).message}`);

export function sourceOf(path: string): Source {
  const name = shownArgument(path);
  const found = (() => {
    try {
      return statSync(path);
    } catch (error) {
      throw unreadable(name, error);
    }
  })();
  if (found.isDirectory())
    throw new UsageError(
      `${name} is a directory\nGive its files: npx frazil audit ${quoted(path.replace(/\/$/, ""))}/*`,
    );
  const isFile = found.isFile();
  const open = () => createReadStream(path, { highWaterMark: PIECE });
  return { name, bytes: isFile ? found.size : undefined, isFile, open };
}

export function standardInput(): Source {
  const found = fstatSync(0);
  const open = () => process.stdin;
  return { name: "standard input", bytes: found.isFile() ? found.size : undefined, isFile: false, open };
}

/** The bytes by which gzip is known. */
const HEAD = 4;
/** gzip, by deflate, without a reserved flag. */
const isGzip = (head: Buffer) => head[0] === 0x1f && head[1] === 0x8b && head[2] === 8 && (head[3] as number) < 0x20;

/**
 * The bytes of a source, unpacked. `seen` hears of each piece how long it was as it was read.
 *
 * @throws {UsageError} if it cannot be read.
 */
export async function* piecesOf(source: Source, seen: (bytes: number) => void): AsyncGenerator<Buffer> {
  const stream: AsyncIterator<Buffer> = source.open()[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await stream.next();
    if (done) return undefined;
    seen(value.length);
    return value;
  };
  try {
    let head: Buffer = Buffer.alloc(0);
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      head = head.length === 0 ? piece : Buffer.concat([head, piece]);
      if (head.length >= HEAD) break;
    }
    const all = async function* () {
      if (head.length > 0) yield head;
      for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
    };
    if (isGzip(head)) yield* pipeline(all, createGunzip({ chunkSize: PIECE }), () => {});
    else yield* all();
  } catch (error) {
    // Of the system, or of zlib.
    if ((error as { errno?: unknown }).errno !== undefined) throw unreadable(source.name, error);
    throw error;
  }
}
