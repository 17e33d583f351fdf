/** Partitions of a table by the time of its IDs: by day, week or month in UTC. */
import type { Layout } from "frazil";

export const STEPS = ["day", "week", "month"] as const;
export type Step = (typeof STEPS)[number];

/** The most partitions at once. MariaDB and MySQL take 8,192 of a table. */
export const MAX_PARTITIONS = 8192;

const DAY_MS = 86_400_000;

/** The start of the period that contains a time. Weeks begin on Monday. */
function startOf(step: Step, ms: number): number {
  const date = new Date(ms);
  if (step === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const day = ms - (((ms % DAY_MS) + DAY_MS) % DAY_MS);
  return step === "day" ? day : day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
}

function nextOf(step: Step, ms: number): number {
  const date = new Date(ms);
  if (step === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return ms + (step === "day" ? 1 : 7) * DAY_MS;
}

/** The starts of the periods from the one that contains a time to the one before another, and the start of the next. */
export function periodsOf(step: Step, fromMs: number, untilMs: number): number[] {
  const starts = [startOf(step, fromMs)];
  while ((starts.at(-1) as number) < untilMs && starts.length <= MAX_PARTITIONS)
    starts.push(nextOf(step, starts.at(-1) as number));
  return starts;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A function that creates partitions, for the first ones and the next. */
export const postgresPartitions = (
  prefix: string,
): string => `-- Creates the partitions of a table that are missing: FROM the period of first_time UNTIL that of last_time, in UTC.
CREATE OR REPLACE FUNCTION ${prefix}frazil_partitions(parent regclass, step text, first_time timestamptz, last_time timestamptz)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  period timestamp := date_trunc(step, first_time AT TIME ZONE 'UTC');
  following timestamp;
  own_schema name;
  own_name text;
  child text;
  lower_id bigint;
  upper_id bigint;
BEGIN
  IF step IS NULL OR step NOT IN ('day', 'week', 'month') THEN
    RAISE EXCEPTION 'step must be day, week or month, got %', step;
  END IF;
  SELECT n.nspname, c.relname INTO own_schema, own_name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = parent;
  IF octet_length(own_name) > 52 THEN own_name := md5(own_name); END IF; -- a name has 63 bytes
  WHILE period < last_time AT TIME ZONE 'UTC' LOOP
    following := period + ('1 ' || step)::interval;
    child := own_name || to_char(period, '_YYYY_MM_DD');
    lower_id := ${prefix}frazil_from(period AT TIME ZONE 'UTC');
    upper_id := ${prefix}frazil_until(following AT TIME ZONE 'UTC');
    -- By its bounds, since tables are renamed.
    IF NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = parent
                   AND pg_get_expr(c.relpartbound, c.oid) = format('FOR VALUES FROM (%L) TO (%L)', lower_id, upper_id)) THEN
      EXECUTE format('CREATE TABLE %I.%I PARTITION OF %s FOR VALUES FROM (%s) TO (%s)', own_schema, child, parent, lower_id, upper_id);
      RETURN NEXT child;
    END IF;
    period := following;
  END LOOP;
END
$$;`;

/** A definition of partitions by numbers, which MariaDB and MySQL need: no function is allowed there. */
export function mysqlPartitions(layout: Layout, starts: readonly number[]): string {
  return starts
    .slice(1)
    .map((end, at) => {
      const name = `p${dayOf(starts[at] as number).replaceAll("-", "_")}`;
      return `  PARTITION ${name} VALUES LESS THAN (${layout.range(end, end).fromId})`;
    })
    .join(",\n");
}
