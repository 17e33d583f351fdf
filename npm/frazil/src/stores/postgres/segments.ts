/** The records of tags in Postgres: one row for each, replaced by one statement that compares it. */
import { NO_INCARNATION, storeRefused } from "../kit/errors.js";
import { type DdlTags, printedTags } from "../kit/segment/requests.js";
import type { KeptRecord } from "../kit/segment/rules.js";
import type { TagTable, TagView } from "../kit/segment/tag-table.js";
import { MAY_ROLL_BACK, writtenBy } from "./client.js";

/** The table. `{segments}` is its name. */
export const SEGMENT_TABLE = `CREATE TABLE IF NOT EXISTS {segments} (
  tag text PRIMARY KEY,
  next_number bigint NOT NULL, -- numbers below are allocated
  recent text NOT NULL, -- the last allocation of each process, which its retry gets again
  incarnation text NOT NULL -- the server that wrote the row
);
`;

/** The record of the tag $1, and the incarnation of the server. A row also without a record. */
const READ = `SELECT s.tag, s.next_number::text AS next_number, s.recent, s.incarnation AS written,
  ({incarnation_of_tags})::text AS incarnation, ${writtenBy("s.xmin")}
FROM (SELECT $1::text AS tag) AS asked LEFT JOIN {segments} AS s ON s.tag = asked.tag`;

/**
 * `allocate`. Invariant: the record is replaced only as it was read, and only by the server that it was decided for
 * (`TagTable.replaceTag` has the reason). It returns what was written, which a trigger may have changed.
 */
const REPLACE = `WITH clock AS MATERIALIZED (SELECT {durable}, ({incarnation_of_tags})::text AS incarnation)
UPDATE {segments} AS s SET next_number = $2::bigint, recent = $3::text, incarnation = $4::text
FROM clock WHERE s.tag = $1::text AND s.next_number = $5::bigint AND s.incarnation = $6::text AND s.recent = $7::text
  AND clock.incarnation = $4::text AND clock.durable IS NOT NULL
RETURNING s.next_number::text AS next_number, ${writtenBy("s.xmin")}`;

/** `initSegment`. A record that is there stays. */
const MAKE = `WITH clock AS MATERIALIZED (SELECT {durable})
INSERT INTO {segments} (tag, next_number, recent, incarnation)
SELECT $1::text, $2::bigint, '[]', ({incarnation_of_tags})::text FROM clock WHERE clock.durable IS NOT NULL
ON CONFLICT (tag) DO NOTHING RETURNING tag, ${MAY_ROLL_BACK}`;

/** The record of a tag, as SQL for people to read and run. */
const INSERT_TAG = `INSERT INTO {segments} (tag, next_number, recent, incarnation)
VALUES ($1, $2, '[]', ({incarnation_of_tags})::text) ON CONFLICT (tag) DO NOTHING;
`;

/** The records of tags, as SQL for people to read and run. */
export function tagRecords(given: DdlTags): string {
  const { tags, first } = printedTags(given);
  const records = tags.map((tag) => INSERT_TAG.replace("$1", () => `'${tag}'`).replace("$2", () => first));
  return `-- The records of tags, on the primary. ${first} is the first number. One that is there stays as it is.
${records.join("")}`;
}

type Rows = readonly Record<string, unknown>[];

/** Runs a statement. `undefined`: the table is missing. */
export type RunStatement = (
  statement: string,
  values: readonly string[],
  signal?: AbortSignal,
  mayRollBack?: boolean,
) => Promise<Rows | undefined>;

export class PostgresTags implements TagTable {
  readonly #run: RunStatement;
  readonly placeOfTags: TagTable["placeOfTags"];

  constructor(run: RunStatement, placeOfTags: TagTable["placeOfTags"]) {
    this.#run = run;
    this.placeOfTags = placeOfTags;
  }

  async readTag(tag: string, signal: AbortSignal | undefined): Promise<TagView | undefined> {
    const [row] = (await this.#run(READ, [tag], signal)) ?? [];
    if (row === undefined || row["tag"] === null) return undefined;
    const { next_number, recent, written, incarnation } = row;
    if (incarnation === null) throw storeRefused(NO_INCARNATION);
    return { kept: [String(next_number), String(written), String(recent)], incarnation: String(incarnation) };
  }

  async replaceTag(
    tag: string,
    seen: KeptRecord,
    [next, incarnation, recent]: KeptRecord,
    signal: AbortSignal | undefined,
  ): Promise<true | undefined> {
    const [row] = (await this.#run(REPLACE, [tag, next, recent, incarnation, ...seen], signal)) ?? [];
    if (row !== undefined && row["next_number"] !== next)
      throw storeRefused(
        `next_number of the tag ${JSON.stringify(tag)} is ${String(row["next_number"])} after ${next} was written\nIts column must be bigint, and ` +
          "no trigger or rule may change it, since numbers would repeat.",
      );
    return row && true;
  }

  async makeTag(tag: string, first: bigint, signal: AbortSignal): Promise<boolean | undefined> {
    const rows = await this.#run(MAKE, [tag, `${first}`], signal, true);
    return rows && rows.length > 0;
  }
}
