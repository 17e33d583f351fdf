// A process of CosId with segments in a database, by the rules of `JdbcIdSegmentDistributor`, `JdbcIdSegmentInitializer` and
// `IdSegment`.
//
// - A row that is missing is inserted with the offset, which is 0.
// - It adds its own step, or a multiple of it if it prefetches a chain, and hands out (last_max_id - step, last_max_id].
import { inTransaction } from "./old-segments.mjs";

/** The table, as `init-cosid-mysql.sql` makes it. */
export const COSID = `CREATE TABLE cosid (
  name varchar(100) not null comment '{namespace}.{name}',
  last_max_id bigint unsigned not null default 0,
  last_fetch_time bigint unsigned not null default 0,
  constraint cosid_pk primary key (name)
) engine = InnoDB`;

const INSERT = "insert into cosid (name, last_max_id,last_fetch_time) value (?, ?,unix_timestamp())";
const UPDATE = "update cosid set last_max_id=(last_max_id + ?),last_fetch_time=unix_timestamp() where name = ?";
const SELECT = "select last_max_id from cosid where name = ?";

export class CosId {
  #current = { value: 0, max: 0 };
  #loads = 0;

  /** `chained`: every third time it asks for three steps at once, as the chain does that runs short. */
  constructor(pool, tag, { step = 10, offset = 0, chained = false } = {}) {
    Object.assign(this, { pool, tag, step, offset, chained });
  }

  /** `tryInitIdSegment`. */
  async init() {
    try {
      await this.pool.query(INSERT, [this.tag, this.offset]);
    } catch (error) {
      if (error.code !== "ER_DUP_ENTRY") throw error;
    }
  }

  /** `nextMaxId`. */
  async load() {
    const step = this.chained && this.#loads++ % 3 === 2 ? 3 * this.step : this.step;
    const max = await inTransaction(this.pool, async (query) => {
      const { affectedRows } = await query(UPDATE, [step, this.tag]);
      if (affectedRows === 0) throw new Error(`SegmentNameMissing: ${this.tag}`);
      return (await query(SELECT, [this.tag]))[0].last_max_id;
    });
    return { value: max - step, max };
  }

  async next() {
    while (this.#current.value >= this.#current.max) this.#current = await this.load();
    return ++this.#current.value;
  }
}
