// The types of leases: options, events, the generator, and a store of one's own.
import { type ErrorCode, type FrazilError, type Health, type Layout, Snowflake, type Stats } from "frazil";
import {
  type Answer,
  type Grant,
  type LeasedHealth,
  LeasedSnowflake,
  type LeasedStats,
  type LeaseEvents,
  type LeaseHealth,
  type LeaseOptions,
  type LeaseStats,
  type LeaseStore,
  type LeaseWindow,
  layoutText,
  lease,
  preferredNode,
  type RefusalReason,
} from "frazil/lease";
import { check, type Equal } from "./equal.js";

/** As `process.env`. */
declare const variables: { readonly [name: string]: string | undefined };

// A store of one's own: the smallest that compiles.
class OwnStore implements LeaseStore {
  readonly name = "own";
  async acquire({ grant, windowMs, node = 0 }: Parameters<LeaseStore["acquire"]>[0]): Promise<Answer> {
    check<Equal<typeof grant, string>>();
    return { granted: true, grant, node, fromMs: 0, untilMs: windowMs, storeNowMs: 0 };
  }
  async renew(): Promise<Answer> {
    return { granted: false, reason: "taken", storeNowMs: 0 };
  }
  async release(): Promise<boolean> {
    return true;
  }
  async ensure(): Promise<void> {}
}
declare const store: LeaseStore;
declare const answer: Answer;
if (answer.granted) check<Equal<typeof answer, Grant>>();
else check<Equal<typeof answer.reason, RefusalReason>>();
// @ts-expect-error: no such reason
const busy: Answer = { granted: false, reason: "busy" };
// @ts-expect-error: an answer is the whole lease
const partial: Answer = { granted: true, grant: "", node: 1 };
// @ts-expect-error: times are numbers
const text: Answer = { granted: true, grant: "", node: 1, fromMs: "0", untilMs: "0", storeNowMs: "0" };

async function leased(): Promise<void> {
  const ids = await lease(new OwnStore());
  check<Equal<typeof ids, LeasedSnowflake<"default">>>();
  check<Equal<typeof ids.node, number | undefined>>();
  check<Equal<ReturnType<typeof ids.next>, bigint>>();
  check<Equal<ReturnType<typeof ids.close>, Promise<void>>>();
  check<Equal<ReturnType<typeof ids.health>, LeasedHealth>>();
  check<Equal<ReturnType<typeof ids.stats>, LeasedStats>>();
  check<Equal<LeasedStats["lease"], LeaseStats>>();
  check<Equal<LeasedHealth["lease"], LeaseHealth>>();
  check<Equal<LeaseHealth["problem"], FrazilError | undefined>>();
  check<Equal<keyof LeaseEvents, "acquired" | "renewed" | "lost" | "refused">>();
  check<Equal<ReturnType<typeof ids.ready>, Promise<void>>>();
  await ids.ready({ signal: new AbortController().signal });
  await lease(store, { renew: "calls", node: preferredNode({ nodes: { from: 0, to: 7 } }) });
  // @ts-expect-error: no such way to renew
  await lease(store, { renew: "requests" });
  // @ts-expect-error: a range
  preferredNode({ nodes: 1024 });
  const health: Health = ids.health();
  // If it is not `ok`, there is a refusal, and else there is none.
  const leased = ids.health();
  if (leased.ok) check<Equal<typeof leased.refusal, undefined>>();
  else check<Equal<typeof leased.refusal, FrazilError>>();
  const codeOf = (each: Health): ErrorCode | "ok" => (each.ok ? "ok" : each.refusal.code);
  codeOf(health);
  // @ts-expect-error: there may be none
  health.refusal.code;
  const stats: Stats = ids.stats();
  const same: typeof ids = ids.on("acquired", (window) => check<Equal<typeof window, LeaseWindow>>());
  ids
    .on("renewed", ({ node, fromMs, untilMs }) => void (node + fromMs + untilMs))
    .on("lost", (error) => check<Equal<typeof error, FrazilError>>())
    .off("refused", ({ code, retryAfterMs }) => void [code, retryAfterMs]);
  // @ts-expect-error: no such event
  ids.on("expired", () => {});
  // @ts-expect-error: a listener of another event
  ids.on("lost", (window: LeaseWindow) => window.untilMs);
  // @ts-expect-error: the node id is not set by hand
  ids.node = 8;
  await ids[Symbol.asyncDispose]();
  void [health, stats, same];

  // The layout decides the type of the parts, and not that of the node id to prefer.
  const twitter = await lease(store, { layout: "twitter", node: 113 });
  check<Equal<typeof twitter.layout, Layout<"datacenter" | "worker">>>();
  check<Equal<NonNullable<ReturnType<typeof twitter.decode>["parts"]>["worker"], number>>();
  check<Equal<ReturnType<typeof layoutText>, string>>();
  layoutText(twitter.layout);
}

const options: LeaseOptions = {
  scope: "shop",
  windowMs: 30_000,
  node: 3,
  owner: "pod-3",
  time: "store",
  signal: AbortSignal.timeout(5),
  epochMs: 0,
  maxLeadMs: 0,
  maxWaitMs: 0,
  maxAsyncWaitMs: 0,
  sequenceStart: "wrap",
};
lease(store, options);
lease(store, {});
const discord: LeaseOptions<"discord"> = { layout: "discord" };
lease(store, discord);
// @ts-expect-error: a store is needed
lease();
// @ts-expect-error: a client of a database is no store
lease({ query() {}, connect() {} });
// @ts-expect-error: a class is no store
lease(OwnStore);
// @ts-expect-error: misspelt
lease(store, { window: 30_000 });
lease(store, { node: variables["NODE_ID"] });
// @ts-expect-error: parts of a node id are not leased
lease(store, { layout: "twitter", node: { datacenter: 3, worker: 17 } });
// @ts-expect-error: there is no such time
lease(store, { time: "monotonic" });
// @ts-expect-error: a leased generator takes no `now`
lease(store, { now: Date.now });
// @ts-expect-error: nor `unshared`
lease(store, { unshared: true });
// @ts-expect-error: a signal, not its controller
lease(store, { signal: new AbortController() });
// @ts-expect-error: no such layout
lease(store, { layout: "nope" });

// A leased generator goes where any generator goes.
function mint(from: Snowflake): bigint {
  return from.next();
}
declare const ids: LeasedSnowflake;
mint(ids);
if (ids instanceof LeasedSnowflake && ids instanceof Snowflake) ids.node?.toFixed();

export { busy, leased, partial, text };
