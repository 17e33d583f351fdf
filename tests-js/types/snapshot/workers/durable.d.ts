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
import { type LayoutInput, Snowflake, type SnowflakeOptions } from "frazil";
import { type ObjectState } from "./leases-object.js";
/** The options of `durable()`. */
export interface DurableOptions<L extends LayoutInput = LayoutInput> extends Omit<SnowflakeOptions<L>, "layout" | "node" | "unshared" | "now" | "freshness" | "maxWaitMs"> {
    /** What the bits mean. Default: `"edge"` (time 41, node 14, sequence 8). */
    readonly layout?: L;
    /** The name of the ID space in this object. IDs of two scopes may be equal. Default: `"default"`. */
    readonly scope?: string;
    /** The node id. No other generator whose IDs meet these may have it. `"none"` for a layout without a node field. */
    readonly node: NonNullable<SnowflakeOptions<L>["node"]>;
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
export declare function durable<const L extends LayoutInput = "edge">(ctx: ObjectState, options: DurableOptions<L>): Snowflake<L>;
