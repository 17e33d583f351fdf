// A process of Baidu's UidGenerator, by its documented rules: it registers by an INSERT into WORKER_NODE, as
// DisposableWorkerIdAssigner does, and mints with the AUTO_INCREMENT number as its worker id until it is killed. It reads no
// row, never writes a row again, and gives nothing back.
//
// - `cached: false`: DefaultUidGenerator. Seconds of the wall clock; the sequence restarts at 0 in each; a clock that goes back is
//   refused, which ends this process.
// - `cached: true`: CachedUidGenerator. It reads the clock once, at the start; each batch is the whole of the next second, also
//   if that lies in the future.
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import mysql from "mysql2/promise";

/** The table, as the project's README makes it. */
export const WORKER_NODE = `CREATE TABLE WORKER_NODE (
  ID BIGINT NOT NULL AUTO_INCREMENT COMMENT 'auto increment id',
  HOST_NAME VARCHAR(64) NOT NULL COMMENT 'host name',
  PORT VARCHAR(64) NOT NULL COMMENT 'port',
  TYPE INT NOT NULL COMMENT 'node type: ACTUAL or CONTAINER',
  LAUNCH_DATE DATE NOT NULL COMMENT 'launch date',
  MODIFIED TIMESTAMP NOT NULL COMMENT 'modified time',
  CREATED TIMESTAMP NOT NULL COMMENT 'created time',
  PRIMARY KEY (ID)
) COMMENT='DB WorkerID Assigner for UID Generator', ENGINE = INNODB`;

/** The INSERT of its mapper. */
const ADD = `INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
VALUES (?, ?, ?, ?, NOW(), NOW())`;
/** WorkerNodeType. */
const TYPES = { container: 1, actual: 2 };

/** Registers a process as `DisposableWorkerIdAssigner` does. Returns its worker id. */
export async function register(connection, { host = "10.0.0.7", type = "actual" } = {}) {
  const port = type === "actual" ? `${Date.now()}-${Math.floor(100_000 * Math.random())}` : "8080";
  const [{ insertId }] = await connection.query(ADD, [host, port, TYPES[type], new Date()]);
  return insertId;
}

/** The last worker id, beyond which `register` is of no use: the process then throws at its start. */
export const maxWorkerId = ({ workerBits }) => 2 ** workerBits - 1;

/** A generator: each call returns some IDs of one second. `bits`: { timeBits, workerBits, seqBits, epochSeconds }. */
export function uidGenerator({ timeBits, workerBits, seqBits, epochSeconds }, workerId, { cached = false } = {}) {
  const allocate = (second, sequence) =>
    (BigInt(second - epochSeconds) << BigInt(workerBits + seqBits)) |
    (BigInt(workerId) << BigInt(seqBits)) |
    BigInt(sequence);
  const inSecond = 2 ** seqBits;
  const secondOf = () => {
    const second = Math.floor(Date.now() / 1000);
    if (second - epochSeconds > 2 ** timeBits - 1) throw new Error("Timestamp bits is exhausted");
    return second;
  };
  let last = cached ? secondOf() : -1;
  let sequence = 0;
  return async (count) => {
    if (cached) {
      last += 1;
      return Array.from({ length: inSecond }, (_, at) => allocate(last, at));
    }
    const ids = [];
    while (ids.length < count) {
      const second = secondOf();
      if (second < last) throw new Error("Clock moved backwards");
      if (second > last) sequence = 0;
      else if (++sequence === inSecond) {
        sequence--;
        await sleep(20);
        continue;
      }
      last = second;
      ids.push(allocate(second, sequence));
    }
    return ids;
  };
}

async function main({ out, url, bits, cached, batch, pauseMs, count = Number.POSITIVE_INFINITY }) {
  const connection = await mysql.createConnection(url);
  const workerId = await register(connection, { type: cached ? "container" : "actual" });
  await connection.end();
  if (workerId > maxWorkerId(bits)) throw new Error(`Worker id ${workerId} exceeds the max ${maxWorkerId(bits)}`);
  const file = openSync(join(out, `java-${process.pid}.ids`), "a");
  const mint = uidGenerator(bits, workerId, { cached });
  for (let done = 0; done < count; done++) {
    writeSync(file, BigUint64Array.from(await mint(batch)));
    await sleep(pauseMs);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(JSON.parse(process.argv[2]));
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    process.exit(3);
  }
}
