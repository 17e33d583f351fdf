// A server of Didi's Tinyid, by the rules of `DbSegmentIdServiceImpl`, `SegmentId` and `CachedIdGenerator`.
//
// - It reads the row, and writes max_id + step if the row has the `max_id` and the `version` that it read; three times at most.
// - It hands out the numbers above the old `max_id` and up to the new one that leave `remainder` when they are divided by `delta`.
// - The next segment is loaded when a fifth of the current one is used.
import { inTransaction } from "./old-segments.mjs";

/** The table, as `tinyid.sql` makes it. */
export const TINY_ID_INFO = `CREATE TABLE tiny_id_info (
  id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  biz_type varchar(63) NOT NULL DEFAULT '',
  begin_id bigint(20) NOT NULL DEFAULT '0',
  max_id bigint(20) NOT NULL DEFAULT '0',
  step int(11) DEFAULT '0',
  delta int(11) DEFAULT '1',
  remainder int(11) DEFAULT '0',
  create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
  version bigint(20) NOT NULL DEFAULT '0',
  PRIMARY KEY (id),
  UNIQUE KEY uniq_biz_type (biz_type)
) ENGINE=InnoDB`;

const SELECT = `select id, biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version
from tiny_id_info where biz_type = ?`;
const UPDATE = `update tiny_id_info set max_id=?, update_time=now(), version=version+1
where id=? and max_id=? and version=? and biz_type=?`;

export class Tinyid {
  #current;
  #next;
  #loading;

  constructor(pool, tag) {
    Object.assign(this, { pool, tag });
  }

  /** `getNextSegmentId`. */
  load() {
    const read = { isolation: "READ COMMITTED" };
    const attempt = async (query) => {
      for (let tries = 0; tries < 3; tries++) {
        const [row] = await query(SELECT, [this.tag]);
        if (row === undefined) throw new Error(`can not find biztype:${this.tag}`);
        const { id, max_id: old, step, version } = row;
        const fresh = old + step;
        const { affectedRows } = await query(UPDATE, [fresh, id, old, version, this.tag]);
        if (affectedRows === 1) return segment(old, fresh, row);
      }
      throw new Error("get next segmentId conflict");
    };
    return inTransaction(this.pool, attempt, read);
  }

  async next() {
    for (;;) {
      this.#current ??= await this.load();
      const id = this.#current.next();
      if (id <= this.#current.max) {
        if (id >= this.#current.loadingId && !this.#next && !this.#loading)
          this.#loading = this.load()
            .then((loaded) => {
              this.#next = loaded;
            })
            .finally(() => {
              this.#loading = undefined;
            });
        // A load that fails is tried again by the next call.
        this.#loading?.catch(() => {});
        return id;
      }
      await this.#loading;
      [this.#current, this.#next] = [this.#next, undefined];
    }
  }
}

/** `SegmentId`: the first number is the one that is found by counting up, and each further one lies `delta` beyond. */
function segment(old, max, { step, delta, remainder }) {
  // `getInt` reads NULL as 0.
  const [by, rest] = [delta ?? 0, remainder ?? 0];
  if (by === 0) throw new Error("ArithmeticException: / by zero");
  let current = old;
  if (current % by !== rest)
    for (let tries = 0; tries <= by; tries++)
      if (++current % by === rest) {
        current -= by;
        break;
      }
  return {
    max,
    loadingId: old + Math.floor((step * 20) / 100),
    next() {
      current += by;
      return current;
    },
  };
}
