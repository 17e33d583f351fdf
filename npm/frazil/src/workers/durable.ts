/**
 * `durable()`: a generator inside a Durable Object, whose IDs are unique in that object, whatever the clock does and however the object
 * ends.
 *
 * - **The ceiling is on disk ahead of use**: no ID has a time at or above it. The object writes it synchronously before it mints, and the
 *   runtime holds back what the object sends until that is durable.
 * - **The core has the rule** (`crates/core/src/ceiling.rs`): whether a row needs a write, and to which ceiling. Here the row is read and
 *   written.
 * - **Each reservation reads the row**, so no block of IDs is kept: a rollback of the program could take back the ceiling that covers it.
 */
import { Layout, type LayoutInput, Snowflake, type SnowflakeOptions } from "frazil";
import { drawRandom } from "../asking/kernel-random.js";
import { wallClock } from "../base/clock.js";
import { configError, type FrazilError, LeaseError, oneLine } from "../base/errors.js";
import { type Answers, type Port, releaserOf, unclosed } from "../core/port.js";
import { Slot } from "../generated/abi.js";
import { CeilingCall, CODES, RULES, SUBJECTS } from "../generated/lease.js";
import { Rule } from "../generated/rules.js";
import { nodeGiven, numberOrNaN } from "../generator/request.js";
import { type Minting, SESSION, type Session } from "../generator/session.js";
import { checkGiven } from "../stores/kit/argument-errors.js";
import { storeRefused } from "../stores/kit/errors.js";
import { layoutText } from "../stores/kit/lease/layout-text.js";
import { isScope } from "../stores/kit/limits.js";
import { lacksTables } from "../stores/kit/tables.js";
import { type ObjectState, type ObjectStorage, sqlError } from "./leases-object.js";
import { checkSame, msOfDate, type Options } from "./request-context.js";

/** The options of `durable()`. */
export interface DurableOptions<L extends LayoutInput = LayoutInput>
  extends Omit<SnowflakeOptions<L>, "layout" | "node" | "unshared" | "now" | "freshness" | "maxWaitMs"> {
  /** What the bits mean. Default: `"edge"` (time 41, node 14, sequence 8). */
  readonly layout?: L;
  /** The name of the ID space in this object. IDs of two scopes may be equal. Default: `"default"`. */
  readonly scope?: string;
  /** The node id. No other generator whose IDs meet these may have it. `"none"` for a layout without a node field. */
  readonly node: NonNullable<SnowflakeOptions<L>["node"]>;
}

const KNOWN = "scope, node, layout, epochMs, maxLeadMs, maxAsyncWaitMs, sequenceStart";
const NODE_RULE =
  "must be given\nNo other generator whose IDs meet these may have it. For IDs that stay in this object: node: 0. For those that meet the " +
  "IDs of other objects: leased(env.FRAZIL), which gives each isolate its own node id.";

const TABLE = `CREATE TABLE IF NOT EXISTS frazil_ceilings (
  scope TEXT NOT NULL,
  node INTEGER NOT NULL,
  layout TEXT NOT NULL,
  mark INTEGER NOT NULL, -- of the generator that wrote the row
  until_ms INTEGER NOT NULL, -- no ID has this time or a later one
  PRIMARY KEY (scope, node)
)`;
const READ = `SELECT layout, mark, until_ms FROM frazil_ceilings WHERE scope = ? AND node = ?`;
/** Invariant: the ceiling only grows. */
const RAISE = `INSERT INTO frazil_ceilings (scope, node, layout, mark, until_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope, node) DO UPDATE SET mark = excluded.mark, until_ms = max(until_ms, excluded.until_ms)`;

/** Of a node id that has no row yet. */
const OTHER = "SELECT layout FROM frazil_ceilings WHERE scope = ? AND layout <> ? LIMIT 1";

const ANSWERS: Answers = [CODES, RULES, SUBJECTS];

/** A generator's row in the storage. The core checks it. */
interface Row {
  readonly mark: unknown;
  readonly untilMs: unknown;
}

/** The ID spaces of an object, by scope and node id. */
type Spaces = Map<string, Space>;

/** An ID space of an object: a scope and a node id. */
interface Space {
  readonly scope: string;
  readonly layoutText: string;
  /** The generator, unless it is closed. */
  open?: { readonly ids: Snowflake<LayoutInput>; readonly options: Options } | undefined;
  /** What was written last. After `close()` and `deleteAll()` nothing else says which times are used. */
  written?: Row;
}

/** The error for a table that is not the one of this package, or what the runtime's error is otherwise. */
function tableError(error: unknown): FrazilError {
  const { message } = error as Error;
  if (
    !/no such column|has no column named|constraint failed|cannot modify|datatype mismatch|does not match any/.test(
      message,
    )
  )
    return sqlError(error);
  return storeRefused(
    `the table frazil_ceilings of this object is not the one that durable() makes (SQLite: ${oneLine(message)})\nRename yours, or ` +
      "drop it if nothing needs the IDs that it covers.",
    error,
  );
}

/** Carries the ceiling of a generator between the core and the storage of its object. */
class CeilingSession implements Session {
  // Set by the constructor: a bundler keeps a class whose fields have computed names, also where nothing uses it.
  declare readonly [SESSION]: true;
  readonly #storage: ObjectStorage;
  readonly #space: Space;
  readonly #node: number;
  #mark: unknown;
  #port!: Port;
  #handle!: number;
  #isClosed = false;

  constructor(storage: ObjectStorage, space: Space, node: number) {
    (this as { [SESSION]: true })[SESSION] = true;
    this.#storage = storage;
    this.#space = space;
    this.#node = node;
  }

  readonly clock = wallClock;

  open(port: Port, write: () => void): number {
    // First: in workerd other code may run meanwhile, and the memory of WebAssembly may grow.
    const random = drawRandom();
    write();
    port.numbers.set(random, Slot.RANDOM);
    const { calls, frame } = port.binding;
    return calls.ceiling(frame, 0, CeilingCall.OPEN);
  }

  opened({ port, handle }: Minting): void {
    this.#port = port;
    this.#handle = handle;
    unclosed?.register(this, releaserOf(port, handle), this);
  }

  /** Has the row decide how far IDs may be reserved. Writes it if the core says so, and IDs are reserved next. */
  read(reserveAtMs?: number): void {
    // The call that follows says that the generator is closed.
    if (this.#isClosed) return;
    const atMs = reserveAtMs ?? wallClock();
    const due = this.#look(this.#read(), atMs);
    if (due === undefined || reserveAtMs === undefined) return;
    this.#write(due);
    this.#look(due, atMs);
  }

  /** Asks the core what to write before IDs are reserved at a time. */
  #look(row: Row | undefined, atMs: number): Row | undefined {
    const { binding, numbers } = this.#port;
    numbers[Slot.HAS_ROW] = Number(row !== undefined);
    numbers[Slot.ROW_MARK] = numberOrNaN(row?.mark);
    numbers[Slot.ROW_UNTIL_MS] = numberOrNaN(row?.untilMs);
    numbers[Slot.WALL_MS] = numberOrNaN(atMs);
    const status = binding.calls.ceiling(binding.frame, this.#handle, CeilingCall.LOOK);
    if (status !== 0) throw this.#port.error(status, row?.untilMs, undefined, ANSWERS);
    // Read after the call, during which the memory of WebAssembly may have grown.
    const after = this.#port.numbers;
    if (after[Slot.HAS_ROW] === 0) return undefined;
    return { mark: after[Slot.ROW_MARK], untilMs: after[Slot.ROW_UNTIL_MS] };
  }

  #read(): Row | undefined {
    const { scope, layoutText, written } = this.#space;
    const rowsOf = (sql: string, value: unknown) => {
      try {
        return this.#storage.sql.exec(sql, scope, value as string).toArray();
      } catch (error) {
        if (lacksTables((error as Error).message)) return [];
        throw tableError(error);
      }
    };
    const [row] = rowsOf(READ, this.#node);
    // IDs of two layouts can be equal whatever their node ids are.
    const other = row === undefined ? rowsOf(OTHER, layoutText)[0] : row;
    if (other !== undefined && other["layout"] !== layoutText)
      throw new LeaseError(
        "LAYOUT_MISMATCH",
        `the scope "${scope}" of this object has IDs of the layout ${String(other["layout"])}, and this generator has ` +
          `${layoutText}\nUse that layout, or another scope, whose IDs go to another column.`,
        {},
      );
    if (row !== undefined) return { mark: row["mark"], untilMs: row["until_ms"] };
    return written?.mark === this.#mark ? undefined : written;
  }

  /** Nothing runs between reading the row and writing it, since both are synchronous. */
  #write(row: Row): void {
    const { scope, layoutText } = this.#space;
    try {
      this.#storage.transactionSync(() => {
        const { sql } = this.#storage;
        sql.exec(TABLE);
        sql.exec(RAISE, scope, this.#node, layoutText, row.mark as number, row.untilMs as number);
      });
    } catch (error) {
      throw tableError(error);
    }
    this.#mark = row.mark;
    this.#space.written = row;
  }

  close(): void {
    this.#isClosed = true;
    unclosed?.unregister(this);
    releaserOf(this.#port, this.#handle)();
  }
}

/** A generator of an object. Its node id is not interned: the ID space is that of the object. */
class DurableSnowflake<const L extends LayoutInput> extends Snowflake<L> {
  /** Keeps the name when a minifier renames the class. @internal */
  static override readonly name: string = "DurableSnowflake";

  constructor(rest: Record<string, unknown>, session: CeilingSession, closed: () => void) {
    super(...([rest, session] as unknown as [SnowflakeOptions<L>]));
    const closeNow = this.close;
    let isOpen = true;
    this.close = () => {
      closeNow();
      if (isOpen) session.close();
      isOpen = false;
      closed();
    };
  }

  declare readonly close: () => void;
}

/** By what stands for an object. */
const objects = /* @__PURE__ */ new WeakMap<object, Spaces>();

/**
 * The ID spaces of an object. A library that traces calls may hand over another wrapper of its state at each access, so that what is
 * inside counts too.
 */
function spacesOf(ctx: object, storage: ObjectStorage): Spaces {
  const inside: object[] = [ctx, storage];
  try {
    const { sql } = storage;
    if (Object(sql) === sql) inside.push(sql);
  } catch {
    // A class without SQL storage is told with the first ID.
  }
  const spaces = inside.map((part) => objects.get(part)).find((known) => known !== undefined) ?? new Map();
  for (const part of inside) objects.set(part, spaces);
  return spaces;
}

/** The defaults of the options. `node` and `epochMs` have none here. */
const DEFAULTS: Options = {
  scope: "default",
  layout: "edge",
  maxLeadMs: 1000,
  maxAsyncWaitMs: 5000,
  sequenceStart: "zero",
};

/** What an option means, equal for equal options. */
function meaningOf(name: string, options: Options): unknown {
  const optionOf = (of: string) => (options[of] === undefined ? DEFAULTS[of] : options[of]);
  const layout = Layout.from(optionOf("layout") as LayoutInput);
  if (name === "layout") return layoutText(layout);
  if (name === "epochMs") return msOfDate(optionOf(name)) ?? layout.epochMs;
  // One generator has one node id, in whatever form it is given.
  return name === "node" ? undefined : optionOf(name);
}

/**
 * The generator of a Durable Object, for IDs that meet in its data. Make it in the constructor of the object:
 *
 * ```js
 * import { DurableObject } from "cloudflare:workers";
 * import { toSql } from "frazil/transport";
 * import { durable } from "frazil/workers";
 *
 * export class Room extends DurableObject {
 *   ids = durable(this.ctx, { node: 0 });
 *
 *   post(text) {
 *     this.ctx.storage.sql.exec("INSERT INTO messages (id, text) VALUES (?, ?)", toSql(this.ids.next()), text);
 *   }
 * }
 * ```
 *
 * IDs of one object, scope and node id never repeat, also after its end at any moment. IDs of two objects with one node id do: where
 * they meet, use `leased()`, which works in objects too. If an object ends and starts again at once, the first calls may be refused
 * with `CLOCK_BACKWARD` for a second, and longer by what IDs were ahead of the clock; `nextAsync` waits.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` without the state of an object; `NODE_REQUIRED`, `INVALID_OPTION`, and those of
 * `new Snowflake()`; `STATE_CONFLICT` if this object has an open generator of the scope with another layout, or of the scope and node
 * id with other options.
 * @throws {LeaseError} with the first ID: `STORE_REFUSED` without SQL storage, `LAYOUT_MISMATCH`. `STORE_REFUSED` outside Cloudflare's
 * runtime.
 */
export function durable<const L extends LayoutInput = "edge">(
  ctx: ObjectState,
  options: DurableOptions<L>,
): Snowflake<L> {
  const storage = (ctx as ObjectState | undefined)?.storage;
  if (typeof storage?.transactionSync !== "function")
    throw configError(
      "INVALID_ARGUMENT",
      "ctx",
      ctx,
      "must be the state of a Durable Object\nPass this.ctx of its class.",
    );
  const given = checkGiven(options, KNOWN) as Record<string, unknown>;
  const { scope = "default", node, layout: of = "edge", epochMs, ...rest } = given;
  if (!isScope(scope)) throw configError("INVALID_OPTION", "scope", scope, Rule.NAME_SYNTAX);
  const named = Layout.from(of as LayoutInput);
  const layout = epochMs === undefined ? named : named.with({ epochMs: epochMs as number | Date });
  if (node === undefined) throw configError("NODE_REQUIRED", "node", node, NODE_RULE);
  const isWithout = node === "none" && layout.fields.every(({ kind }) => kind !== "node");
  const number = isWithout ? 0 : layout.joinNode(nodeGiven(node) as number);
  const spaces = spacesOf(ctx, storage);
  const text = layoutText(layout);
  for (const { scope: named, layoutText: before, open } of spaces.values()) {
    if (open === undefined || named !== scope || before === text) continue;
    throw configError(
      "STATE_CONFLICT",
      "layout",
      of,
      `must be that of this object's generator for the scope "${scope}", ${before}`,
    );
  }
  const key = `${scope} ${number}`;
  const before = spaces.get(key);
  if (before?.open !== undefined) {
    checkSame(
      before.open.options,
      given,
      "durable() for this object, scope and node id",
      "generator for them. Pass the same options in every call, or another scope, whose IDs go to another column",
      meaningOf,
    );
    return before.open.ids as unknown as Snowflake<L>;
  }
  const space: Space = { scope, layoutText: text, ...(before?.written && { written: before.written }) };
  const session = new CeilingSession(storage, space, number);
  const ids = new DurableSnowflake<LayoutInput>({ layout, node, ...rest }, session, () => {
    space.open = undefined;
  });
  space.open = { ids, options: { ...given } };
  spaces.set(key, space);
  return ids as unknown as Snowflake<L>;
}
