// A server of Meituan's Leaf in segment mode, by the rules of `SegmentIDGenImpl`: two segments in memory, and the row of
// `leaf_alloc`.
//
// - The first two loads use the `step` of the row. From the third on, the step of the last one is doubled if that was less than
//   15 minutes ago and the double is at most 1,000,000; kept, under 30 minutes; else halved, if the half is not below that of the row.
// - It hands out [max_id - step, max_id), with the step that it has added.
// - The next segment is loaded when less than nine tenths of the current one are left.
//
// A `minute` can be shorter, so that all three happen in a test of seconds.
import { inTransaction } from "./old-segments.mjs";

/** The table, as `leaf_alloc.sql` makes it. */
export const LEAF_ALLOC = `CREATE TABLE leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB`;

const UPDATE = "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?";
const UPDATE_BY = "UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ?";
const SELECT = "SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = ?";
const MAX_STEP = 1_000_000;

export class Leaf {
  #loads = 0;
  #loadedMs = 0;
  #step = 0;
  #minStep = 0;
  #current;
  #next;
  #loading;

  constructor(pool, tag, { minuteMs = 60_000, now = () => performance.now() } = {}) {
    Object.assign(this, { pool, tag, minuteMs, now });
  }

  #nextStep(nowMs) {
    const lastedMs = nowMs - this.#loadedMs;
    if (lastedMs < 15 * this.minuteMs) return this.#step * 2 > MAX_STEP ? this.#step : this.#step * 2;
    if (lastedMs < 30 * this.minuteMs) return this.#step;
    return Math.floor(this.#step / 2) >= this.#minStep ? Math.floor(this.#step / 2) : this.#step;
  }

  /** `updateSegmentFromDb`. */
  async load() {
    const nowMs = this.now();
    const step = this.#loads < 2 ? undefined : this.#nextStep(nowMs);
    const row = await inTransaction(this.pool, async (query) => {
      await (step === undefined ? query(UPDATE, [this.tag]) : query(UPDATE_BY, [step, this.tag]));
      return (await query(SELECT, [this.tag]))[0];
    });
    if (row === undefined) throw new Error(`NullPointerException: no row of ${this.tag}`);
    if (this.#loads++ > 0) this.#loadedMs = nowMs;
    this.#step = step ?? row.step;
    this.#minStep = row.step;
    return { value: row.max_id - this.#step, max: row.max_id, step: this.#step };
  }

  async next() {
    this.#current ??= await this.load();
    for (;;) {
      const segment = this.#current;
      if (!this.#next && !this.#loading && segment.max - segment.value < 0.9 * segment.step)
        this.#loading = this.load()
          .then((loaded) => {
            this.#next = loaded;
          })
          .finally(() => {
            this.#loading = undefined;
          });
      // A load that fails is tried again by the next call.
      this.#loading?.catch(() => {});
      if (segment.value < segment.max) return segment.value++;
      await this.#loading;
      if (!this.#next) throw new Error("EXCEPTION_ID_TWO_SEGMENTS_ARE_NULL");
      [this.#current, this.#next] = [this.#next, undefined];
    }
  }
}
