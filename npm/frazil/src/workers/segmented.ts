/** `segmented()`: the numbers of an isolate for a tag. It is called in each request. */
import type { HolderOptions } from "../segment/holder.js";
import { SegmentNumbers, type SegmentOptions } from "../segment/numbers.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import type { SegmentStore } from "../stores/segment-store.js";
import {
  checkSame,
  isContext,
  keepOf,
  type Options,
  ofIsolate,
  type RequestContext,
  requireRequest,
  storeOf,
} from "./request-context.js";
import { RequestCallers } from "./segment-request-driver.js";

/** Small, since an isolate that is evicted loses what it has. */
const STEP = 10;
const MAX_STEP = 1000;

/** The numbers of this isolate for a tag. */
interface Entry {
  readonly numbers: SegmentNumbers;
  readonly callers: RequestCallers;
  readonly options: Options;
}

/** By the identity of the store, and by tag. */
const entries = /* @__PURE__ */ new WeakMap<object, Map<unknown, Entry>>();
/** Whether it has the operation of a store of segments. */
const isStore = (source: unknown): source is SegmentStore =>
  typeof (source as SegmentStore | undefined | null)?.allocate === "function";

/**
 * The numbers of this isolate for a tag, as a `Segment` of `frazil/segment` has them. Call it in each request:
 *
 * ```js
 * import { segmented } from "frazil/workers";
 *
 * export { FrazilLeases } from "frazil/workers";
 *
 * export default {
 *   async fetch(request, env, ctx) {
 *     const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
 *     return new Response(await orders.nextString());
 *   },
 * };
 * ```
 *
 * All calls in an isolate for one source and tag return the same object. A request that finds a number costs no I/O, and the next
 * range is fetched beside it.
 *
 * `source`: a namespace of Durable Objects of the class `FrazilLeases`, or a store. `ctx`: the context of the request; without it the
 * `waitUntil` of `cloudflare:workers` is used. Options are those of `Segment`, with other defaults: `step` 10 and `maxStep` 1000, since
 * an isolate that is evicted loses what it has. Those of later calls must equal those of the first one. The segment belongs to the
 * isolate, so `using` does not close it.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for other options than before, and at module scope; the errors of `new Segment()`.
 * @throws {LeaseError} `STORE_REFUSED` outside Cloudflare's runtime.
 */
export function segmented<S extends LeasesNamespace | SegmentStore>(
  source: S & OfLeases<S>,
  ctx: RequestContext | undefined,
  options: SegmentOptions,
): SegmentNumbers;
export function segmented<S extends LeasesNamespace | SegmentStore>(
  source: S & OfLeases<S>,
  options: SegmentOptions,
): SegmentNumbers;
export function segmented(source: unknown, second?: unknown, third?: unknown): SegmentNumbers {
  const ctx = isContext(second) ? second : undefined;
  const options = ctx === undefined && third === undefined ? second : third;
  const { numbers, callers } = entryOf(storeOf(source, isStore), options as Options | undefined);
  // The one before may have failed, or have ended with its request.
  if (callers.holder.isShort) callers.ask(keepOf(ctx));
  return numbers;
}

/** The entry of a segment that is not closed. */
const openEntry = (identity: object, tag: unknown): Entry | undefined => entries.get(identity)?.get(tag);

function entryOf(store: SegmentStore, options: Options = {}): Entry {
  const identity = store.identity ?? store;
  const tag = options?.["tag"];
  let known = openEntry(identity, tag);
  if (known === undefined) {
    requireRequest("segmented()", 'segmented(env.FRAZIL, ctx, { tag: "orders" })');
    // Microtasks may have run in there: other calls of this.
    known = openEntry(identity, tag);
  }
  if (known) {
    checkSame(
      known.options,
      options,
      "segmented() for this source and tag",
      "segment for them. Pass the same options in every call",
    );
    return known;
  }
  let made: RequestCallers | undefined;
  const callers = (...given: [HolderOptions, number]) => {
    made = new RequestCallers(...given, () => entries.get(identity)?.delete(tag));
    return made;
  };
  const numbers = new SegmentNumbers(store, options as unknown as SegmentOptions, {
    step: STEP,
    maxStep: MAX_STEP,
    identity,
    callers,
  });
  // A copy, since the caller may change its object.
  const entry = { numbers: ofIsolate(numbers), callers: made as unknown as RequestCallers, options: { ...options } };
  const tags = entries.get(identity) ?? new Map<unknown, Entry>();
  entries.set(identity, tags.set(tag, entry));
  return entry;
}
