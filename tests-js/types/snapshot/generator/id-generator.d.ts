/** The type of any generator of IDs, for code that is handed one. */
import type { LayoutInput } from "../layout/index.js";
import type { Snowflake } from "./snowflake.js";
/**
 * A generator of IDs, wherever its node id comes from: of `new Snowflake()`, `Snowflake.local()`, `lease()`, `leased()`, `durable()` or
 * `seededIds()`, and of any layout unless one is named (`IdGenerator<"twitter">`). It has all that `Snowflake` has. Only `close()`
 * differs between them: that of a lease returns a promise.
 *
 * ```ts
 * import type { IdGenerator } from "frazil";
 *
 * class Orders {
 *   constructor(readonly ids: IdGenerator) {}
 *   place(item: string) {
 *     return { id: this.ids.next(), item };
 *   }
 * }
 * ```
 *
 * Code that needs a part of it can say so, and then a stub needs no more: `Pick<IdGenerator, "next">`. The plain numbers of a segment
 * are no IDs, and come as promises: their type is `SegmentNumbers` of `frazil/segment`.
 */
export interface IdGenerator<L extends LayoutInput = LayoutInput> extends Omit<Snowflake<L>, "close"> {
    /** Closes the generator: later minting calls throw `CLOSED`. Await it, since that of a lease tells its store. */
    readonly close: () => void | Promise<void>;
}
