/**
 * `durable()`: a generator inside a Durable Object, whose IDs are unique in that object, whatever the clock does and however the object
 * ends.
 *
 * - **The ceiling is on disk ahead of use**: no ID has a time at or above it. The object writes it synchronously before it mints, at
 *   most once in a second, and the runtime holds back what the object sends until that is durable.
 * - **A new instance begins at the ceiling** of the one before, so it repeats nothing, without a look at the IDs.
 * - It asks nobody, and has no lease from a store. The core sees the storage of the object as one: the right to mint in
 *   `[fromMs, untilMs)`.
 */
import { Layout, type LayoutInput, Snowflake, type SnowflakeOptions } from "frazil";
import { requireWorkers } from "#host";
import { digitsAt } from "../digits.js";
import { ConfigError, configError, FrazilError, LeaseError } from "../errors.js";
import { LeaseCall, LeaseReason } from "../generated/lease.js";
import { Slot } from "../generated/page.js";
import { Rule } from "../generated/rules.js";
import { type Asked, LeaseCore } from "../lease-core.js";
import { type LeaseSession, SESSION } from "../lease-session.js";
import { wholeOf } from "../stores/answers.js";
import { checkGiven } from "../stores/given.js";
import { layoutText } from "../stores/layout-text.js";
import { isScope } from "../stores/limits.js";
import { sleep } from "../wait.js";
import { type ObjectState, type ObjectStorage, sqlError } from "./leases-object.js";

/** The options of `durable()`. */
export interface DurableOptions<L extends LayoutInput = "edge">
  extends Omit<SnowflakeOptions<L>, "layout" | "node" | "unshared" | "now" | "maxWaitMs"> {
  /** What the bits mean. Default: `"edge"` (time 41, node 14, sequence 8). */
  readonly layout?: L;
  /** The name of the ID space in this object. IDs of two scopes may be equal. Default: `"default"`. */
  readonly scope?: string;
  /** The node id. No other generator whose IDs meet these may have it. `"none"` for a layout without a node field. */
  readonly node: NonNullable<SnowflakeOptions<L>["node"]>;
}

const KNOWN = "scope, node, layout, epochMs, maxLeadMs, maxAsyncWaitMs, sequenceStart";
/** How long one write of the ceiling lasts, in milliseconds, beyond what IDs may run ahead of the clock. */
const SPAN_MS = 1000;
const MAX_LEAD_MS = 1000;
/** A window of the core has three ticks at least. */
const MIN_TICKS = 3;

const NODE_RULE =
  "must be given: a number that no other generator has whose IDs meet these. For IDs that stay in this object, node: 0; for those that " +
  "meet the IDs of other objects, leased(env.FRAZIL) gives each isolate a node id of its own";

const TABLE = `CREATE TABLE IF NOT EXISTS frazil_ceilings (
  scope TEXT NOT NULL,
  node INTEGER NOT NULL,
  layout TEXT NOT NULL,
  until_ms INTEGER NOT NULL, -- no ID has this time or a later one
  PRIMARY KEY (scope, node)
)`;
const READ = `SELECT layout, until_ms FROM frazil_ceilings WHERE scope = ? AND node = ?`;
/** Invariant: the ceiling only grows. */
const RAISE = `INSERT INTO frazil_ceilings (scope, node, layout, until_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (scope, node) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)`;

/** Keeps the ceiling of a generator in the storage of its object. */
class CeilingSession extends LeaseCore implements LeaseSession {
  // Set by the constructor: a bundler keeps a class whose fields have computed names, also where nothing uses it.
  declare readonly [SESSION]: true;
  readonly #storage: ObjectStorage;
  readonly #layoutText: string;
  readonly #node: number;
  readonly #tickMs: number;
  readonly #leadMs: number;
  #fromMs = 0;
  /** The ceiling that this generator has written. 0: none yet. */
  #untilMs = 0;
  #grant = "";
  #asked: Asked | undefined;
  #isReading = false;
  #changed: ((node: number | undefined) => void) | undefined;

  constructor(storage: ObjectStorage, scope: string, layout: Layout, node: number, leadMs: number) {
    const aheadMs = leadMs + SPAN_MS + MIN_TICKS * layout.tickMs;
    super({
      store: undefined as never,
      scope,
      windowMs: aheadMs,
      owner: "",
      hasNode: false,
      node,
      storeTime: false,
      byCalls: true,
      isUncopied: true,
    });
    (this as { [SESSION]: true })[SESSION] = true;
    this.#storage = storage;
    this.#layoutText = layoutText(layout);
    this.#node = node;
    this.#tickMs = layout.tickMs;
    this.#leadMs = leadMs;
  }

  start(): void {
    const { minting } = this;
    this.#changed = (node) => minting?.changed(node);
    this.minting = undefined;
  }

  /** Raises the ceiling if IDs could come near it. Each reservation of IDs begins with this. */
  override readClocks(): void {
    super.readClocks();
    if (this.#isReading || !(this.wallMs >= 0)) return;
    const nowMs = this.wallMs;
    // Read each time: a transaction of the program that was rolled back has taken the ceiling back.
    if (nowMs + this.#leadMs + MIN_TICKS * this.#tickMs < this.#untilMs && this.#storedMs() === this.#untilMs) return;
    this.#isReading = true;
    try {
      this.#raise(nowMs);
    } finally {
      this.#isReading = false;
    }
  }

  /** The ceiling in the storage; 0 if there is none. */
  #storedMs(): number {
    try {
      const [row] = this.#storage.sql.exec(READ, this.options.scope, this.#node).toArray();
      return row === undefined ? 0 : wholeOf("until_ms", row["until_ms"]);
    } catch (error) {
      if (!FrazilError.is(error) && /no such table: frazil_/.test((error as Error).message)) return 0;
      throw FrazilError.is(error) ? error : sqlError(error);
    }
  }

  #raise(nowMs: number): void {
    const { scope } = this.options;
    const { sql } = this.#storage;
    const untilMs = this.#written(() => {
      sql.exec(TABLE);
      const [row] = sql.exec(READ, scope, this.#node).toArray();
      if (row !== undefined && row["layout"] !== this.#layoutText)
        throw new LeaseError(
          "LAYOUT_MISMATCH",
          `the scope "${scope}" of this object has IDs of the layout ${String(row["layout"])}, and this generator has ` +
            `${this.#layoutText}: use that layout, or another scope, whose IDs go to another column`,
          {},
        );
      const ceilingMs = row === undefined ? 0 : wholeOf("until_ms", row["until_ms"]);
      if (this.#untilMs === 0 || ceilingMs !== this.#untilMs) this.#begin(ceilingMs);
      // While the clock is behind the ceiling, the window is as short as the core allows: a row of restarts does not move it far.
      const raisedMs = Math.max(nowMs + this.options.windowMs, this.#fromMs + MIN_TICKS * this.#tickMs, ceilingMs);
      sql.exec(RAISE, scope, this.#node, this.#layoutText, raisedMs);
      return raisedMs;
    });
    this.take(
      this.#grant,
      { granted: true, grant: this.#grant, node: this.#node, fromMs: this.#fromMs, untilMs, storeNowMs: nowMs },
      this.#asked as Asked,
    );
    if (this.#untilMs === 0) this.#changed?.(this.#node);
    this.#untilMs = untilMs;
  }

  /** Runs work in a transaction of the object. */
  #written<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      throw FrazilError.is(error) ? error : sqlError(error);
    }
  }

  /** Asks the core for a window that begins at the ceiling: at the start, and if somebody else has raised it. */
  #begin(ceilingMs: number): void {
    if (this.#untilMs !== 0) {
      this.refuse(LeaseReason.TAKEN, true, 0, this.#grant, (this.#asked as Asked).number);
      this.#untilMs = 0;
    }
    const numbers = this.call(LeaseCall.ASK);
    this.#grant = digitsAt(numbers, Slot.GRANT);
    this.#asked = { number: numbers[Slot.ASKED_NUMBER] as number, wallMs: this.wallMs, monotonicMs: this.monotonicMs };
    this.#fromMs = ceilingMs;
  }

  renewIfDue(): undefined {}

  refused(): void {}

  retryMs(_: FrazilError, retryMs: number): number {
    return retryMs;
  }

  readonly wait = (ms: number, signal: AbortSignal | undefined): Promise<number> => sleep(ms, signal);

  close(): void {
    this.call(LeaseCall.CLOSE);
    this.free();
  }
}

/** A generator of an object. Its node id is not interned: the ID space is that of the object. */
class DurableSnowflake<const L extends LayoutInput> extends Snowflake<L> {
  /** Keeps the name when a minifier renames the class. @internal */
  static override readonly name: string = "DurableSnowflake";

  constructor(rest: Record<string, unknown>, session: CeilingSession, closed: () => void) {
    super(...([rest, session] as unknown as [SnowflakeOptions<L>]));
    session.start();
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

/** By the storage of the object, and by scope and node id. */
const generators = /* @__PURE__ */ new WeakMap<object, Map<string, Snowflake<LayoutInput>>>();

/**
 * The generator of a Durable Object, for IDs that meet in its data. Make it in the constructor of the object:
 *
 * ```js
 * import { DurableObject } from "cloudflare:workers";
 * import { durable } from "frazil/workers";
 *
 * export class Room extends DurableObject {
 *   ids = durable(this.ctx, { node: 0 });
 *
 *   post(text) {
 *     this.ctx.storage.sql.exec("INSERT INTO messages (id, text) VALUES (CAST(? AS INTEGER), ?)", this.ids.nextString(), text);
 *   }
 * }
 * ```
 *
 * IDs of one object, scope and node id never repeat, also after its end at any moment. IDs of two objects with one node id do: where
 * they meet, use `leased()`, which works in objects too. If an object ends and starts again at once, the first calls may be refused
 * with `CLOCK_BACKWARD` for up to a second; `nextAsync` waits.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` without the state of an object; `NODE_REQUIRED`, `INVALID_OPTION`, and those of
 * `new Snowflake()`; `STATE_CONFLICT` if this object has a generator of the scope and node id with another layout.
 * @throws {LeaseError} with the first ID: `STORE_REFUSED` without SQL storage, `LAYOUT_MISMATCH`. `STORE_REFUSED` outside Cloudflare's
 * runtime.
 */
export function durable<const L extends LayoutInput = "edge">(
  ctx: ObjectState,
  options: DurableOptions<L>,
): Snowflake<L> {
  requireWorkers("durable()");
  const storage = (ctx as ObjectState | undefined)?.storage;
  if (typeof storage?.transactionSync !== "function")
    throw configError("INVALID_ARGUMENT", "ctx", ctx, "must be the state of a Durable Object: this.ctx in its class");
  const given = checkGiven(options, KNOWN) as Record<string, unknown>;
  const { scope = "default", node, layout: of = "edge", epochMs, ...rest } = given;
  if (!isScope(scope)) throw configError("INVALID_OPTION", "scope", scope, Rule.NAME_SYNTAX);
  const named = Layout.from(of as LayoutInput);
  const layout = epochMs === undefined ? named : named.with({ epochMs: epochMs as number });
  if (node === undefined)
    throw new ConfigError("NODE_REQUIRED", NODE_RULE, { field: "node", value: node, rule: NODE_RULE });
  const isWithout = node === "none" && layout.fields.every(({ kind }) => kind !== "node");
  const number = isWithout ? 0 : layout.joinNode(node as number);
  const known = generators.get(storage) ?? new Map<string, Snowflake<LayoutInput>>();
  const key = `${scope} ${number}`;
  const open = known.get(key);
  if (open !== undefined) {
    if (layoutText(open.layout) === layoutText(layout)) return open as unknown as Snowflake<L>;
    throw configError(
      "STATE_CONFLICT",
      "layout",
      of,
      `must be that of the generator that this object has for the scope "${scope}" and the node id ${number}: ${layoutText(open.layout)}`,
    );
  }
  const { maxLeadMs = MAX_LEAD_MS } = rest;
  const session = new CeilingSession(storage, scope, layout, number, Number(maxLeadMs));
  const ids = new DurableSnowflake<LayoutInput>({ layout, ...rest }, session, () => known.delete(key));
  generators.set(storage, known.set(key, ids));
  return ids as unknown as Snowflake<L>;
}
