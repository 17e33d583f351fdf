/** `segmented()`: the numbers of an isolate for a tag. It is called in each request. */
import type { Core, HolderOptions } from "../segment/holder.js";
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

/** What is called in each request: see `segmented`. */
export interface Segmented {
  <S extends LeasesNamespace | SegmentStore>(
    source: S & OfLeases<S>,
    ctx: RequestContext | undefined,
    options: SegmentOptions,
  ): SegmentNumbers;
  <S extends LeasesNamespace | SegmentStore>(source: S & OfLeases<S>, options: SegmentOptions): SegmentNumbers;
}

/** `segmented()` on a core. @internal */
export const segmentedOn = (core: Core): Segmented =>
  function segmented(source: unknown, second?: unknown, third?: unknown): SegmentNumbers {
    const ctx = isContext(second) ? second : undefined;
    const options = ctx === undefined && third === undefined ? second : third;
    const { numbers, callers } = entryOf(core, storeOf(source, isStore), options as Options | undefined);
    // The one before may have failed, or have ended with its request.
    if (callers.holder.isShort) callers.ask(keepOf(ctx));
    return numbers;
  };

/** The entry of a segment that is not closed. */
const openEntry = (identity: object, tag: unknown): Entry | undefined => entries.get(identity)?.get(tag);

function entryOf(core: Core, store: SegmentStore, options: Options = {}): Entry {
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
    core,
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
