// The types of `frazil/workers`: `leased()` and `segmented()` with a namespace or a store, a context and options.
import type { Snowflake } from "frazil";
import type { LeaseStore } from "frazil/lease";
import type { Segment, SegmentStore } from "frazil/segment";
import {
  FrazilLeases,
  type LeasedSnowflake,
  leased,
  type RequestContext,
  type SegmentNumbers,
  segmented,
  type WorkersLeaseOptions,
} from "frazil/workers";
import { check, type Equal } from "./equal.js";

// As `wrangler types` and @cloudflare/workers-types declare them, in what matters here.
interface DurableObjectId {
  toString(): string;
  equals(other: DurableObjectId): boolean;
}
interface DurableObjectStub {
  readonly id: DurableObjectId;
  fetch(request: Request): Promise<Response>;
}
interface DurableObjectNamespace {
  idFromName(name: string): DurableObjectId;
  get(id: DurableObjectId, options?: { locationHint?: "weur" | "enam" }): DurableObjectStub;
}
interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  props: unknown;
}

declare const namespace: DurableObjectNamespace;
declare const store: LeaseStore;
declare const ctx: ExecutionContext;

async function inRequest(): Promise<void> {
  const ids = await leased(namespace, ctx);
  check<Equal<typeof ids, LeasedSnowflake<"edge">>>();
  check<Equal<typeof ids.node, number | undefined>>();
  check<Equal<ReturnType<typeof ids.next>, bigint>>();

  await leased(namespace);
  await leased(store, ctx, { time: "store" });
  const own = await leased(store, { layout: "twitter", scope: "orders", windowMs: 60_000, owner: "api" });
  check<Equal<typeof own, LeasedSnowflake<"twitter">>>();
  const snowflake: Snowflake<"edge"> = ids;
  void snowflake;
  // Both ways of returning.
  const got = leased(namespace, ctx);
  check<Equal<typeof got, LeasedSnowflake<"edge"> | Promise<LeasedSnowflake<"edge">>>>();
}

async function numbersInRequest(segments: SegmentStore, segment: Segment): Promise<void> {
  const orders = segmented(namespace, ctx, { tag: "orders" });
  check<Equal<typeof orders, SegmentNumbers>>();
  const number = await orders.next();
  check<Equal<typeof number, bigint>>();
  segmented(namespace, { tag: "orders", step: 100 });
  segmented(segments, undefined, { tag: "orders" });
  // What takes the one takes the other.
  const either: SegmentNumbers = segment;
  void either;
  // @ts-expect-error: the tag is required
  segmented(namespace, ctx, { step: 10 });
  // @ts-expect-error: options are required
  segmented(namespace, ctx);
}

const context: RequestContext = ctx;
const options: WorkersLeaseOptions = { maxAsyncWaitMs: 1000, maxLeadMs: 0, sequenceStart: "random", node: 3 };
// @ts-expect-error: only calls renew
leased(namespace, ctx, { renew: "timer" });
// @ts-expect-error: a request ends with its time
leased(namespace, ctx, { signal: new AbortController().signal });
// @ts-expect-error: neither a namespace nor a store
leased({ get: () => undefined }, ctx);
// @ts-expect-error: not an option
leased(namespace, { window: 5 });

class Sub extends FrazilLeases {}

void [inRequest, numbersInRequest, context, options, Sub];
