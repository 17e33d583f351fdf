// A process of CosId with its JDBC distributor, by its documented rules: it takes a machine id from `cosid_machine`, mints, and
// guards its row once a minute. A `minute` can be shorter, so that a test takes seconds: all durations of CosId that decide who
// gets a number are multiples of it.
//
// - Its own row, if its stamp is younger than the safe-guard duration (5 minutes; a stable instance: however old).
// - Else a row that was given back (`instance_id = ''`), or whose stamp is older than that.
// - Else `max(machine_id) + 1`, repeated if another process has made the row meanwhile.
// - It waits until its clock has reached the stamp of the row, up to 500 ms; beyond that it does not start.
// - A guard that fails is logged; the generator goes on.
// - At an orderly end (SIGTERM) it gives the row back.
import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import mysql from "mysql2/promise";

/** The table and its indices, as `init-cosid-mysql.sql` makes them. */
export const COSID_MACHINE = [
  `CREATE TABLE IF NOT EXISTS cosid_machine (
  name            varchar(100)     not null comment '{namespace}.{machine_id}',
  namespace       varchar(100)     not null,
  machine_id      integer unsigned not null default 0,
  last_timestamp  bigint unsigned  not null default 0,
  instance_id     varchar(100)     not null default '',
  distribute_time bigint unsigned  not null default 0,
  revert_time     bigint unsigned  not null default 0,
  constraint cosid_machine_pk primary key (name)
) engine = InnoDB`,
  "CREATE INDEX idx_namespace ON cosid_machine (namespace)",
  "CREATE INDEX idx_instance_id ON cosid_machine (instance_id)",
];

const SELF =
  "select machine_id, last_timestamp from cosid_machine where namespace=? and instance_id=? and last_timestamp>?";
const REVERTED =
  "select machine_id, last_timestamp from cosid_machine where namespace=? and (instance_id='' or last_timestamp<=?)";
const TAKE = `update cosid_machine set instance_id=?,last_timestamp=?,distribute_time=?
where name=? and (instance_id='' or last_timestamp<=?)`;
const NEXT = "select max(machine_id)+1 as next_machine_id from cosid_machine where namespace=?";
const INSERT = `insert into cosid_machine
(name, namespace, machine_id, last_timestamp, instance_id, distribute_time, revert_time) values (?,?,?,?,?,?,0)`;
const REVERT =
  "update cosid_machine set instance_id=?,last_timestamp=?,revert_time=? where namespace=? and instance_id=?";
const GUARD = "update cosid_machine set last_timestamp=? where namespace=? and instance_id=? and machine_id=?";

/** `ClockBackwardsSynchronizer`: how far behind a stamp a clock may be. */
const BROKEN_MS = 500;
/** `integer` and `long` of Java, which its `ResultSet` must be able to hold. */
const JAVA_INT = 2 ** 31 - 1;
const JAVA_LONG = 2n ** 63n - 1n;

/** A row as its `ResultSet` reads it: `getInt(1)`, `getLong(2)`. */
export function stateOf({ machine_id: id, last_timestamp: stamp }) {
  if (!(Number(id) >= 0 && Number(id) <= JAVA_INT) || BigInt(stamp) < 0n || BigInt(stamp) > JAVA_LONG)
    throw new Error(`Out of range: ${id}, ${stamp}`);
  return { machineId: Number(id), stamp: Number(stamp) };
}

/** `JdbcMachineIdDistributor`. `digits`: of the number in the name of a row, 4 or 8 by the release. */
export class Distributor {
  constructor(connection, { namespace, instanceId, stable = false, machineBits = 10, minuteMs = 60_000, digits = 8 }) {
    Object.assign(this, { connection, namespace, instanceId, stable, machineBits, minuteMs, digits });
  }

  #safeGuardAt = () => (this.stable ? 0 : Date.now() - 5 * this.minuteMs);
  #name = (machineId) => `${this.namespace}.${String(machineId).padStart(this.digits, "0")}`;
  async #query(sql, ...values) {
    const [result] = await this.connection.query(sql, values);
    return result;
  }

  /** `distributeRemote`. */
  async distribute() {
    const { namespace, instanceId } = this;
    const [own] = await this.#query(SELF, namespace, instanceId, this.#safeGuardAt());
    if (own) {
      const state = stateOf(own);
      const stamp = Math.max(state.stamp, Date.now());
      await this.guard(state.machineId, stamp);
      return { machineId: state.machineId, stamp };
    }
    for (const row of await this.#query(REVERTED, namespace, this.#safeGuardAt())) {
      const state = stateOf(row);
      const now = Date.now();
      const name = this.#name(state.machineId);
      const { affectedRows } = await this.#query(TAKE, instanceId, now, now, name, this.#safeGuardAt());
      if (affectedRows > 0) return state;
    }
    for (;;) {
      const [{ next_machine_id: next }] = await this.#query(NEXT, namespace);
      const machineId = Number(next ?? 0);
      if (machineId > 2 ** this.machineBits - 1) throw new Error(`MachineIdOverflow: ${machineId}`);
      const now = Date.now();
      try {
        await this.#query(INSERT, this.#name(machineId), namespace, machineId, now, instanceId, now);
        return { machineId, stamp: now };
      } catch (error) {
        if (error.code !== "ER_DUP_ENTRY") throw error;
      }
    }
  }

  /** `guardRemote`. It throws if the row has another instance. */
  async guard(machineId, stamp = Date.now()) {
    const { affectedRows } = await this.#query(GUARD, stamp, this.namespace, this.instanceId, machineId);
    if (affectedRows === 0) throw new Error(`MachineIdLost: ${machineId}`);
  }

  /** `revertRemote`. */
  async revert() {
    const now = Date.now();
    await this.#query(REVERT, this.stable ? this.instanceId : "", now, now, this.namespace, this.instanceId);
  }
}

/** Waits until the clock has reached a stamp. */
export async function synchronise(stamp) {
  const behindMs = stamp - Date.now();
  if (behindMs > BROKEN_MS) throw new Error(`ClockTooManyBackwards: ${behindMs} ms`);
  if (behindMs > 0) await sleep(behindMs);
}

/** `MillisecondSnowflakeId`: its counter goes on over milliseconds, and restarts only from the upper half. */
export function snowflakeId({ epochMs, machineBits, sequenceBits }, machineId) {
  const maxSequence = 2 ** sequenceBits - 1;
  let last = -1;
  let sequence = 0;
  return () => {
    let now = Date.now();
    if (now < last) throw new Error("ClockBackwards");
    if (now > last && sequence >= maxSequence >> 1) sequence = 0;
    sequence = (sequence + 1) & maxSequence;
    if (sequence === 0) while (now <= last) now = Date.now();
    last = now;
    return (
      (BigInt(now - epochMs) << BigInt(machineBits + sequenceBits)) |
      (BigInt(machineId) << BigInt(sequenceBits)) |
      BigInt(sequence)
    );
  };
}

/** `stateFile`: its local state, which it asks instead of the table if it exists. */
async function main({ out, url, bits, batch, pauseMs, stateFile, ...options }) {
  const connection = await mysql.createConnection(url);
  const distributor = new Distributor(connection, { ...options, machineBits: bits.machineBits });
  const save = (machineId) => stateFile && writeFileSync(stateFile, `${machineId}|${Date.now()}`);
  let state;
  if (stateFile && existsSync(stateFile)) {
    const [machineId, stamp] = readFileSync(stateFile, "utf8").split("|").map(Number);
    state = { machineId, stamp };
  } else state = await distributor.distribute();
  await synchronise(state.stamp);
  const { machineId } = state;
  save(machineId);

  const guards = setInterval(async () => {
    save(machineId);
    try {
      await distributor.guard(machineId);
    } catch (error) {
      process.stderr.write(`Guard Failed: ${error.message}\n`);
    }
  }, distributor.minuteMs);
  let isEnding = false;
  process.once("SIGTERM", () => {
    isEnding = true;
  });

  const file = openSync(join(out, `java-${process.pid}.ids`), "a");
  const generate = snowflakeId(bits, machineId);
  while (!isEnding) {
    writeSync(file, BigUint64Array.from({ length: batch }, generate));
    await sleep(pauseMs);
  }
  clearInterval(guards);
  await sleep(2);
  save(machineId);
  await distributor.revert();
  await connection.end();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(JSON.parse(process.argv[2]));
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    process.exit(3);
  }
}
