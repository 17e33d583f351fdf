/**
 * `frazil.next()`: an ID as the default of a column in Postgres, for COPY, triggers, nested writes of an ORM and other languages.
 *
 * A sequence holds the *word*: the tick above, and below it a counter of `63 - time bits` bits. `nextval` takes words; a *move* sets the
 * word to the first one of a later tick. An ID is a word whose counter fits into the sequence field, with the node id of the database.
 *
 * - **A tick is stored once.** Moves hold an advisory lock, and each strictly raises the tick, so a tick that a move has left never
 *   returns. Within a tick, `nextval` is atomic. So no word is taken twice.
 * - **What is burnt does not matter.** A word whose counter is too large, or that was overtaken, lies in a tick of its own time. Only a
 *   carry of the counter into the tick between the reading and the writing of one move could repeat words. As refused calls may have
 *   burnt much of the counter before, a move leaves out the next tick if it is more than half full. So a repeat takes as many calls in one
 *   move as half a counter has values: 2,097,152 in the default layout, and at least `HEADROOM` in any.
 * - **A session that gets no lock does not wait** as long as its word is at most `maxLagMs` old. Nothing loops until a word is fresh:
 *   handing over the lock takes longer than a tick.
 * - **No advisory lock outlives the call**: it is taken in a subtransaction that an exception leaves. A lock of the session would remain
 *   after a cancelled statement, and one of the transaction until its end.
 * - **After a crash or a promotion** the word begins beyond all that can have been lost: the clock, `maxLeadMs` and `SKEW_MS`. Both empty
 *   an unlogged table, whose size says whether this was done; a changed timeline needs no look of its own.
 * - **A copy of the database issues nothing**: a dump that was loaded, and a clone by TEMPLATE.
 * - **A node id may go from one sequence to another**: a new one is taken when no transaction can issue the old one any more, and then the
 *   word moves as after a crash.
 *
 * Not seen: a copy of the server's folder, an old primary that still runs, and a session that sets `frazil_next.*` by itself, which skips
 * the checks. A row that is committed is safe; a value that was seen only by a client may be lost in a crash, with its WAL, and repeats if
 * the clock then is further back than `SKEW_MS`.
 */
import { type FieldKind, Layout, type LayoutInput, type NodeInput } from "frazil";
import { configError, whole } from "../base/errors.js";
import { checkKeys } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { describedError } from "../base/value-text.js";
import { Rule } from "../generated/rules.js";
import { layoutText } from "../stores/kit/lease/layout-text.js";
import type { Dialect } from "./dialect.js";
import { DIALECTS } from "./dialects.js";
import { BEYOND, DOWN, HERE, UP } from "./next-statements.js";

/** The options of `nextSql`. */
export interface NextSqlOptions {
  /** The node id of this database, which nothing else may use. Left out only if the layout has no node field. */
  readonly node?: NodeInput<string>;
  /** The schema of the function. Default: `"frazil"`. */
  readonly schema?: string;
  /** How far an ID may be behind the clock, from 1 to 1000. Default: 10. */
  readonly maxLagMs?: number;
  /** How far an ID may be ahead of the clock, from 0 to 1000. Default: 1000. */
  readonly maxLeadMs?: number;
  /** Who may call the function besides its owner: a role, or `"PUBLIC"`. Default: nobody. */
  readonly grant?: string;
  /** Removes it again. Default: false. */
  readonly down?: boolean;
}

/** How far the clock may have gone back in a crash or a promotion. */
const SKEW_MS = 1000;
/** How long a call waits for the clock: after a crash `SKEW_MS`, and then until others have their IDs. */
const MAX_WAIT_MS = 2 * SKEW_MS;
/** The longest pause between two looks at the clock, which may step. */
const PAUSE_MS = 10;
/** How many calls one move must bear at least: with 1,000 connections and time-outs of 10 ms, it may take ten seconds. */
const HEADROOM = 2 ** 20;
/** The first key of advisory locks, "Fraz" in ASCII. The second one is the OID of the sequence, and for installations 0. */
const LOCK = 0x4672617a;
/** Leaves the subtransaction of a move. The standard leaves the classes from I on to implementations. */
const LEAVE = "ZFREE";

/** What a caller needs. The default of a column does without the first one. */
const GRANTS = ["GRANT USAGE ON SCHEMA {schema}", "GRANT EXECUTE ON FUNCTION {schema}.next()"];

const SIGNED_COLUMN = "must have IDs below 2^63 with this node id, since a bigint of Postgres has a sign";
const WORD_ROOM =
  "must leave a counter beside the time that has {max} values more than the sequence\nTake fewer bits for the time or the sequence.";
const SCHEMA = DIALECTS.postgres.schema as NonNullable<Dialect["schema"]>;
const ROLE_NAME = "must be the name of a role, of 1 to 63 characters without a quotation mark";

/** What a layout and its node id make of a word. */
interface WordPlan {
  readonly counterBits: bigint;
  readonly maxTick: bigint;
  readonly sequences: bigint;
  readonly timeShift: bigint;
  readonly sequenceShift: bigint;
  readonly nodeBits: bigint;
}

/** Checks that IDs of the layout, with a node id, fit into a signed column and leave the word enough bits. */
function planWord(layout: Layout, node: NodeInput<string> | undefined): WordPlan {
  const { fields, epochMs } = layout;
  const bitsBelow = (kind: FieldKind) =>
    fields.slice(fields.findIndex((field) => field.kind === kind) + 1).reduce((sum, { bits }) => sum + bits, 0);
  const bitsOf = (kind: FieldKind) => fields.find((field) => field.kind === kind)?.bits ?? 0;
  const hasNode = fields.some(({ kind }) => kind === "node");
  if (!hasNode && node !== undefined) throw configError("INVALID_NODE", "node", node, Rule.NODE_NONE);
  const given = {
    timestampMs: epochMs,
    ...(hasNode && { node: layout.joinNode(node) }),
    ...(bitsOf("clock") > 0 && { clock: 0 }),
  };
  const nodeBits = layout.compose({ ...given, sequence: 0 });
  const highest = layout.compose({ ...given, sequence: 2 ** bitsOf("sequence") - 1 });
  // Of 64 bits, the first one is the sign.
  if (highest >= 2n ** 63n) throw configError("INVALID_LAYOUT", "layout", layoutText(layout), SIGNED_COLUMN);
  const timeShift = bitsBelow("time");
  const timeBits = Math.min(bitsOf("time"), 63 - timeShift);
  const counterBits = 63 - timeBits;
  if (2 ** counterBits - 2 ** bitsOf("sequence") < HEADROOM)
    throw configError("INVALID_LAYOUT", "layout", layoutText(layout), WORD_ROOM, 0, HEADROOM);
  return {
    counterBits: BigInt(counterBits),
    maxTick: 2n ** BigInt(timeBits) - 1n,
    sequences: 2n ** BigInt(bitsOf("sequence")),
    timeShift: BigInt(timeShift),
    sequenceShift: BigInt(bitsBelow("sequence")),
    nodeBits,
  };
}

/** A role as SQL names it. */
function roleGiven(grant: unknown = "your_role"): string {
  if (typeof grant !== "string" || !/^[^\0"]{1,63}$/.test(grant))
    throw describedError("INVALID_OPTION", "grant", grant, ROLE_NAME);
  return grant === "PUBLIC" ? grant : `"${grant}"`;
}

/** A text with values instead of the names in braces, also of those in values. */
const completed = (text: string, values: Readonly<Record<string, string | number | bigint>>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => (name in values ? completed(`${values[name]}`, values) : place));

const OPTIONS = "node, schema, maxLagMs, maxLeadMs, grant, down";

/**
 * The SQL that makes `frazil.next()` in Postgres 13 or later, for a migration: it may run again, and needs neither an extension nor a
 * superuser. With `down`, the SQL that removes it.
 *
 * ```js
 * await client.query(nextSql("default", { node: 1022 }));
 * await client.query("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT frazil.next(), …)");
 * ```
 *
 * @throws {ConfigError} `INVALID_LAYOUT` if IDs do not fit into a `bigint`, or the layout leaves too few bits for the counter;
 * `INVALID_NODE`; `INVALID_OPTION`.
 */
export function nextSql(layout: LayoutInput, options: NextSqlOptions): string {
  const given = checkKeys("INVALID_OPTION", "options", options, OPTIONS) as NextSqlOptions;
  const { node, maxLagMs = 10, maxLeadMs = 1000, grant, down = false } = given;
  if (typeof down !== "boolean") throw describedError("INVALID_OPTION", "down", down, PackageRule.TRUE_OR_FALSE);
  const { schema = "frazil" } = given;
  if (typeof schema !== "string" || !SCHEMA.pattern.test(schema))
    throw describedError("INVALID_OPTION", "schema", schema, SCHEMA.rule);
  if (down) return completed(DOWN, { schema: `"${schema}"` });
  const role = roleGiven(grant);
  const made = Layout.from(layout);
  const { tickMs, epochMs } = made;
  const { counterBits, maxTick, sequences, timeShift, sequenceShift, nodeBits } = planWord(made, node);
  const ticksIn = (ms: number) => Math.ceil(ms / tickMs);
  const maxLag = Math.max(1, ticksIn(whole("INVALID_OPTION", "maxLagMs", maxLagMs, 1, 1000)));
  const maxLead = ticksIn(whole("INVALID_OPTION", "maxLeadMs", maxLeadMs, 0, 1000));
  const msSinceEpoch = `date_part('epoch', clock_timestamp()) * 1000 - ${epochMs}`;
  const time = `(word >> ${counterBits} << ${timeShift})`;
  const counter = `(word & ${2n ** counterBits - 1n})`;
  const shifted = sequenceShift === 0n ? counter : `(${counter} << ${sequenceShift})`;
  const text = completed(UP, {
    schema: `"${schema}"`,
    layout: layoutText(made),
    node: nodeBits,
    ticks: tickMs === 1 ? msSinceEpoch : `(${msSinceEpoch}) / ${tickMs}`,
    counterBits,
    counter,
    // Past the next tick if the counter is more than half full, since others may carry it into that tick before it is written.
    following: `(last_value + ${2n ** (counterBits - 1n)} >> ${counterBits}) + 1`,
    sequences,
    maxTick,
    maxWord: 2n ** 63n - 1n,
    tickMs,
    maxLag,
    maxLead,
    lost: maxLead + ticksIn(SKEW_MS),
    // After a crash, one tick beyond those of SKEW_MS, since the clock is somewhere in a tick.
    maxWaitMs: Math.max(MAX_WAIT_MS, (ticksIn(SKEW_MS) + 1) * tickMs),
    pauseMs: PAUSE_MS,
    id: nodeBits === 0n ? `${time} | ${shifted}` : `${time} | ${shifted} | ${nodeBits}`,
    grant: GRANTS.map((each) => `${grant === undefined ? "-- " : ""}${each} TO {role};`).join("\n"),
    lock: `${LOCK}, '{schema}.next_word'::regclass::oid::int`,
    installLock: `${LOCK}, 0`,
    leave: LEAVE,
    here: HERE,
    beyond: BEYOND,
    // The OID of the sequence, which the planner reads once: made anew, it is another one.
    checked: "'{schema}.next_word'::regclass::oid::text",
    // Names of settings have no capital letters, and no signs besides _ and $.
    flag: `frazil_next.in_${schema.replace(/[^a-z0-9_]/g, (sign) => `$${sign.charCodeAt(0).toString(16)}`)}`,
  });
  // Last, since its name may have braces.
  return text.replaceAll("{role}", () => role);
}
