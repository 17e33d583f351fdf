// A naive lease store, written from the documentation of `LeaseStore` alone, with a clock that tests move. It can be broken in
// named ways: the contract must catch every one of them.
import { FENCE_MARGIN_MS } from "frazil/lease";

/** What can be broken, and the scenarios that must catch it. */
export const DEFECTS = {
  "a window is longer than was asked for": "a grant is a whole lease",
  "a window begins when it is granted (a TTL lease)": "an expired node id is granted from the end of its window",
  "a lease is free before its end": "every node id is granted once, then none is free until the first ends",
  "one node id for one owner": "every node id is granted once, then none is free until the first ends",
  "an acquire that awaits between reading and writing": "64 clients take 1,024 node ids, each once",
  "an acquire that awaits after it looked for its grant": [
    "an acquire beside its retry is one lease",
    "acquires beside their retries and others are one lease each",
  ],
  "a retried acquire takes another node id": "a retried acquire is answered with the same lease",
  "a retried acquire gets a new window": "a retried acquire is answered with the same lease",
  "an acquire by the grant alone": "an acquire repeated after a renewal is refused",
  "a partial answer to a retry": "a retried acquire is answered with the same lease",
  "the preferred node id is ignored": "a preferred node id is granted if it is free",
  "a preferred node id may lie outside the range": "a preferred node id outside the range is not granted",
  "the lowest free node id first": "the free node id with the oldest end is granted first",
  "the range is ignored": "only node ids of the range are granted",
  "the signal is ignored": "a call with an aborted signal rejects with its reason",
  "a renewal does nothing": "a renewal moves the end of the window",
  "a renewal begins a new window": "a renewal moves the end of the window",
  "a renewal can shorten the window": "a renewal never shortens the window",
  "no nonce": [
    "one of two clones loses",
    "a stale renewal is refused",
    "a clone of an attempt loses at the next renewal",
  ],
  "the nonce alone": "an expired lease that nobody took is renewed",
  "a renewal awaits between reading and writing": "one of two clones that renew at once loses",
  "a retried renewal is refused": "a retried renewal is accepted",
  "the nonce of a renewal is not stored": "a retried renewal is accepted",
  "no renewal after the end": "an expired lease that nobody took is renewed",
  "a renewal without a look at the grant": "a renewal with another grant is refused",
  "a release without a look at the grant": "a release with another grant is refused",
  "a release by the node id alone": "a release after the loss is refused",
  "a release of any copy": "a release of a clone that did not renew is refused",
  "a release keeps the end": "a released node id is free, from the end of what was minted",
  "a release frees at once": "a node id that is released in the future is held until then",
  "a release below the start": "a release never goes below the start of the window",
  "a release keeps the grant": "a renewal after the release is refused",
  "no fence on acquire": "a fence holds acquisitions back, and windows begin behind it",
  "a fence that windows may begin before": "a fence holds acquisitions back, and windows begin behind it",
  "no fence on new rows": "a fence holds acquisitions back, and windows begin behind it",
  "no margin of the fence": "a fence holds acquisitions back, and windows begin behind it",
  "no fence on renew": "a fence refuses a renewal of a window that had ended",
  "a fence ends live leases": "a fence refuses a renewal of a window that had ended",
  "a row that went back is healed without a fence": "a row that went back is healed under a fence only",
  "a row that went back is never healed": "a row that went back is healed under a fence only",
  "a row that is gone is taken": "a row that is gone is behind, and lost under a fence",
  "only an own row can be behind": "a row that another took after a loss is behind",
  "every ensure is a fence": "ensure without a cause changes nothing",
  "every sign of a loss moves the fence": "a fence only grows, and not while it covers the longest window",
  "a missing record is made": "a missing record is refused, and never made",
  "no incarnation on acquire": "another incarnation is fenced",
  "no incarnation on renew": "another incarnation is fenced",
  "a new incarnation is no fence": "another incarnation is fenced",
  "an acquisition is written after a failover":
    "an acquisition that was decided before a failover is not written after it",
  "an acquisition is written after a fence": "an acquisition that was decided before a fence is not written after it",
  "a renewal is written after a failover": "a renewal that was decided before a failover is not written after it",
  "no look at the layout": "another layout is refused",
  "any window": "a window over the maximum is refused",
  "one space of node ids for all scopes": "scopes are isolated",
  "the client's clock": "a client clock that is wrong by a year does not matter",
  "the end comes from the client": "a client clock that is wrong by a year does not matter",
  "a window moves with the store's clock": "a jump of the store's clock costs time only",
  "rows in memory": "leases outlive a store that is away for longer than a window",
};

/** Lets other operations run in between. */
const interleave = () => new Promise((resolve) => setImmediate(resolve));

/** The store, and what the contract may do to it. `defect` is a key of `DEFECTS`, or nothing. */
export function openNaiveLeases(defect) {
  if (defect !== undefined && !(defect in DEFECTS)) throw new Error(`unknown defect: ${defect}`);
  const is = (name) => {
    if (!(name in DEFECTS)) throw new Error(`unknown defect: ${name}`);
    return defect === name;
  };
  const records = new Map();
  let clock = 1_790_000_000_000;
  let incarnation = "1";
  let beforeWrite;
  /** Does what the next write waits for, if anything. Resolves to whether the server is another one then. */
  async function failsOver() {
    const [seen, work] = [incarnation, beforeWrite];
    beforeWrite = undefined;
    await work();
    return incarnation !== seen;
  }
  const now = () => (is("the client's clock") ? Date.now() : clock);

  const refuse = (reason, more) => ({
    granted: false,
    reason,
    ...(reason !== "missing" && { storeNowMs: now() }),
    ...more,
  });
  const answer = (row) => {
    const { grant, node, fromMs, untilMs } = row;
    return { granted: true, grant, node, fromMs, untilMs, storeNowMs: now() };
  };

  /** The record of a scope, or why a holder may have nothing of it. */
  function recordOf({ scope, layout, windowMs }) {
    const name = is("one space of node ids for all scopes") ? [...records.keys()].at(-1) : scope;
    if (is("a missing record is made") && !records.has(name)) {
      init({ scope: name, layout, nodes: { from: 0, to: 3 }, windowMaxMs: 60_000 });
    }
    const record = records.get(name);
    if (record === undefined) return { refusal: refuse("missing") };
    if (record.layout !== layout && !is("no look at the layout"))
      return { refusal: refuse("layout", { layout: record.layout }) };
    if (windowMs > record.windowMaxMs && !is("any window"))
      return { refusal: refuse("window", { windowMaxMs: record.windowMaxMs }) };
    return { record };
  }

  function init({ scope, layout, nodes, windowMaxMs }) {
    if (records.has(scope)) throw new Error(`${scope} has a record`);
    records.set(scope, { layout, nodes, windowMaxMs, next: nodes.from, fenceMs: 0, incarnation, rows: new Map() });
  }

  const store = {
    name: "memory",

    async acquire(request) {
      const { scope, layout, windowMs, grant, nonce, node, owner, signal } = request;
      if (!is("the signal is ignored")) signal?.throwIfAborted();
      const { record, refusal } = recordOf({ scope, layout, windowMs });
      if (refusal) return refusal;
      const { rows, nodes, fenceMs } = record;
      const mine = [...rows.values()].find((row) => row.grant === grant);
      if (mine && mine.nonce !== nonce && !is("an acquire by the grant alone")) return refuse("taken");
      if (mine && is("a retried acquire gets a new window")) mine.untilMs = now() + windowMs;
      if (mine && is("a partial answer to a retry"))
        return { granted: true, grant, node: mine.node, storeNowMs: now() };
      if (mine && !is("a retried acquire takes another node id")) return answer(mine);
      if (is("an acquire that awaits after it looked for its grant")) await interleave();
      const owned = [...rows.values()].find((row) => row.owner === owner);
      if (owned && is("one node id for one owner")) return answer(owned);
      if (record.incarnation !== incarnation && !is("no incarnation on acquire")) return refuse("incarnation");
      const fence = is("no fence on acquire") || is("a fence that windows may begin before") ? 0 : fenceMs;
      const early = is("a lease is free before its end") ? 60_000 : 0;
      const isFree = (row) => Math.max(row.untilMs - early, is("no fence on acquire") ? 0 : fenceMs) <= now();
      let last = is("the range is ignored") ? nodes.to + 10 : nodes.to;
      if (is("a preferred node id may lie outside the range") && node > last) last = node;
      const newRow = () => {
        if (record.next > last || (fenceMs > now() && !is("no fence on acquire") && !is("no fence on new rows")))
          return undefined;
        rows.set(record.next, { node: record.next, fromMs: 0, untilMs: 0, grant: undefined, owner: undefined });
        return rows.get(record.next++);
      };
      let row;
      if (node !== undefined && !is("the preferred node id is ignored")) {
        while (record.next <= node && node <= last && newRow());
        const preferred = rows.get(node);
        if (preferred && isFree(preferred)) row = preferred;
      }
      const order = is("the lowest free node id first") ? (a, b) => a.node - b.node : (a, b) => a.untilMs - b.untilMs;
      row ??= [...rows.values()].filter(isFree).sort(order)[0] ?? newRow();
      if (is("an acquire that awaits between reading and writing")) await interleave();
      if (row === undefined) {
        const untilMs = record.next <= nodes.to ? 0 : Math.min(...[...rows.values()].map((row) => row.untilMs));
        const reason = fenceMs > now() && untilMs <= now() ? "fenced" : "exhausted";
        return refuse(reason, { freeAtMs: Math.max(untilMs, fenceMs) });
      }
      if (beforeWrite && (await failsOver()) && !is("an acquisition is written after a failover"))
        return store.acquire(request);
      if (record.fenceMs !== fenceMs && !is("an acquisition is written after a fence")) return store.acquire(request);
      const fromMs = is("a window begins when it is granted (a TTL lease)") ? now() : Math.max(row.untilMs, fence);
      Object.assign(row, { grant, nonce, owner, fromMs, untilMs: now() + windowMs });
      if (is("a window is longer than was asked for")) row.untilMs += 1000;
      if (is("the end comes from the client")) row.untilMs = Date.now() + windowMs;
      return answer(row);
    },

    async renew(request) {
      const { scope, layout, windowMs, grant, nonce, node, untilMs } = request;
      const { record, refusal } = recordOf({ scope, layout, windowMs });
      if (refusal) return refusal;
      if (record.incarnation !== incarnation && !is("no incarnation on renew")) return refuse("incarnation");
      const { fenceMs, windowMaxMs, rows } = record;
      const row = rows.get(node);
      const isMine = row?.grant === grant || (row && is("a renewal without a look at the grant"));
      const isCovered = fenceMs >= now() + windowMaxMs || is("a row that went back is healed without a fence");
      const isBehind =
        row === undefined
          ? !is("a row that is gone is taken")
          : row.untilMs < untilMs && (isMine || !is("only an own row can be behind"));
      if (isBehind && (!isCovered || is("a row that went back is never healed"))) return refuse("behind");
      if (untilMs + windowMaxMs <= fenceMs && !is("no fence on renew")) return refuse("fenced");
      if (fenceMs > now() && is("a fence ends live leases")) return refuse("fenced");
      const isKnown = row?.untilMs <= untilMs && !is("the nonce alone");
      const isRetry = row?.nonce === nonce && !is("a retried renewal is refused");
      if (!isMine || !(isKnown || isRetry || is("no nonce"))) return refuse("taken");
      if (is("no renewal after the end") && row.untilMs < now()) return refuse("taken");
      if (is("a renewal awaits between reading and writing")) await interleave();
      if (beforeWrite && (await failsOver()) && !is("a renewal is written after a failover"))
        return store.renew(request);
      if (!is("a renewal does nothing")) row.untilMs = Math.max(row.untilMs, untilMs, now() + windowMs);
      if (is("a renewal can shorten the window")) row.untilMs = now() + windowMs;
      if (is("a window moves with the store's clock")) row.untilMs = now() + windowMs;
      if (is("a renewal begins a new window")) row.fromMs = now();
      if (!is("the nonce of a renewal is not stored")) row.nonce = nonce;
      return answer(row);
    },

    async release({ scope, grant, node, untilMs, heldUntilMs }) {
      const { rows } =
        records.get(is("one space of node ids for all scopes") ? [...records.keys()].at(-1) : scope) ?? {};
      const row = rows?.get(node);
      if (row === undefined) return false;
      const isHeld = row.grant === grant || is("a release without a look at the grant");
      const isKnown = row.untilMs <= heldUntilMs || is("a release of any copy");
      if (!(isHeld && isKnown) && !is("a release by the node id alone")) return false;
      if (!is("a release keeps the end")) row.untilMs = Math.max(row.fromMs, untilMs);
      if (is("a release below the start")) row.untilMs = untilMs;
      if (is("a release frees at once")) row.untilMs = Math.min(row.untilMs, now());
      if (!is("a release keeps the grant")) row.grant = undefined;
      return true;
    },

    async ensure({ scope, behind }) {
      const record = records.get(scope);
      if (record === undefined) throw Object.assign(new Error("no record"), { code: "STORE_NOT_INITIALISED" });
      const { windowMaxMs } = record;
      const isUncovered = record.fenceMs < now() + windowMaxMs || is("every sign of a loss moves the fence");
      const isNew = record.incarnation !== incarnation && !is("a new incarnation is no fence");
      record.incarnation = incarnation;
      if (!isNew && !(behind && isUncovered) && !is("every ensure is a fence")) return;
      const margin = is("no margin of the fence") ? 0 : FENCE_MARGIN_MS;
      record.fenceMs = Math.max(record.fenceMs, now() + windowMaxMs + margin);
    },
  };

  return {
    store,
    init: async (scope) => init(scope),
    pass: async (ms) => {
      clock += ms;
      await interleave();
    },
    jumpClock: async (ms) => {
      clock += ms;
    },
    beforeNextWrite: (work) => {
      beforeWrite = work;
    },
    changeIncarnation: async () => {
      incarnation += "1";
    },
    stop: async () => {
      if (is("rows in memory")) for (const { rows } of records.values()) rows.clear();
    },
    start: async () => {},
  };
}
