/** The type of any generator of IDs, for code that is handed one. */
import type { LayoutInput } from "../layout/index.js";
import type { Snowflake } from "./snowflake.js";

/**
 * A generator of IDs, wherever its node id comes from: of `new Snowflake()`, `Snowflake.local()`, `lease()`, `leased()`, `durable()` or
 * `seededIds()`, and of any layout unless one is named (`IdGenerator<"twitter">`). It has everything that `Snowflake` has. Only `close()`
 * differs: with a lease it returns a promise.
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
 * Code that needs only a part can say so, which keeps stubs small: `Pick<IdGenerator, "next">`. The numbers of a segment are not IDs, and
 * come as promises: their type is `SegmentNumbers` of `frazil/segment`.
 */
export interface IdGenerator<L extends LayoutInput = LayoutInput> extends Omit<Snowflake<L>, "close"> {
  /** Closes the generator: later minting calls throw `CLOSED`. Await it: with a lease it tells the store. */
  readonly close: () => void | Promise<void>;
}
