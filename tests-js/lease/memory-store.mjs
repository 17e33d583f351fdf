// A lease store in memory that follows `npm/frazil/src/stores/lease-store.ts` to the letter, with faults that a test switches on.

import { Layout, LeaseError } from "frazil";
import { FENCE_MARGIN_MS, layoutText } from "frazil/lease";

/** Bound before any test replaces it: the store is another machine, whose clock a test of this one does not move. */
const wallClock = Date.now.bind(Date);

/** The layout of a scope as the store keeps it. */
export const textOf = (layout = "default") => layoutText(Layout.from(layout));

export class MemoryStore {
  name = "memory";
  /** Every call, in order: the verb, the request, and the answer once there is one. */
  calls = [];
  /** What happened to rows, in order: `{ grant, node, fromMs, untilMs }`. */
  grants = [];
  #scopes = new Map();

  /**
   * @param now the store's clock.
   * @param fault what happens to a call: `(verb, execute, request) => answer`. It decides whether and when `execute()` runs, which
   * is the atomic step, and what the caller hears of it.
   */
  constructor({ now = wallClock, fault = (_verb, execute) => execute() } = {}) {
    this.now = now;
    this.fault = fault;
    /** The identity of the server. Another one after a failover. */
    this.incarnation = "first";
  }

  /** A store with one scope. */
  static with({ now, fault, ...scope } = {}) {
    const store = new MemoryStore({ ...(now && { now }), ...(fault && { fault }) });
    store.init(scope);
    return store;
  }

  init({ scope = "default", layout = "default", nodes, windowMaxMs = 60_000 } = {}) {
    const made = Layout.from(layout);
    const bits = made.fields.reduce((sum, field) => sum + (field.kind === "node" ? field.bits : 0), 0);
    const { from = 0, to = 2 ** bits - 1 } = nodes ?? {};
    const record = { incarnation: this.incarnation, fenceMs: 0, windowMaxMs, layout: layoutText(made), from, to };
    this.#scopes.set(scope, { ...record, rows: new Map() });
  }

  /** The rows of a scope, by node id. */
  rows(scope = "default") {
    return this.#scopes.get(scope).rows;
  }

  /** Raises the fence, as after a restore by hand. */
  fence(scope = "default") {
    this.#raise(this.#scopes.get(scope));
  }

  fenceMs(scope = "default") {
    return this.#scopes.get(scope).fenceMs;
  }

  /** A copy of everything that is stored, for `restore`. */
  backup() {
    return structuredClone(this.#scopes);
  }

  /** Goes back to a backup, on a server of another identity. */
  restore(backup, incarnation = this.incarnation) {
    this.#scopes = structuredClone(backup);
    this.incarnation = incarnation;
  }

  acquire(request) {
    return this.#call("acquire", request, () => this.#acquire(request));
  }

  renew(request) {
    return this.#call("renew", request, () => this.#renew(request));
  }

  release(request) {
    return this.#call("release", request, () => this.#release(request));
  }

  ensure(request) {
    return this.#call("ensure", request, () => this.#ensure(request));
  }

  #call(verb, request, execute) {
    const call = { verb, request, atMs: this.now() };
    this.calls.push(call);
    const answer = this.fault(
      verb,
      () => {
        call.answer = execute();
        return call.answer;
      },
      request,
    );
    return answer instanceof Promise ? answer : Promise.resolve(answer);
  }

  #raise(scope) {
    scope.fenceMs = Math.max(scope.fenceMs, this.now() + scope.windowMaxMs + FENCE_MARGIN_MS);
  }

  /** What `acquire` and `renew` check first. */
  #refusal(scope, { layout, windowMs }, storeNowMs) {
    if (scope === undefined) return { granted: false, reason: "missing" };
    if (scope.layout !== layout) return { granted: false, reason: "layout", layout: scope.layout, storeNowMs };
    const { windowMaxMs } = scope;
    if (windowMs > windowMaxMs) return { granted: false, reason: "window", windowMaxMs, storeNowMs };
    if (scope.incarnation !== this.incarnation) return { granted: false, reason: "incarnation", storeNowMs };
    return undefined;
  }

  #granted(node, row, storeNowMs) {
    const { grant, fromMs, untilMs } = row;
    this.grants.push({ grant, node, fromMs, untilMs });
    return { granted: true, grant, node, fromMs, untilMs, storeNowMs };
  }

  #acquire(request) {
    const storeNowMs = this.now();
    const scope = this.#scopes.get(request.scope);
    for (const [node, row] of scope?.rows ?? []) {
      if (row.grant !== request.grant) continue;
      // Renewed since: the request comes late, or from a copy of the process.
      if (row.nonce !== request.nonce) return { granted: false, reason: "taken", storeNowMs };
      return this.#granted(node, row, storeNowMs);
    }
    const refusal = this.#refusal(scope, request, storeNowMs);
    if (refusal) return refusal;
    const { rows, fenceMs, from, to } = scope;
    const freeAtMs = ({ untilMs }) => Math.max(untilMs, fenceMs);
    const known = [...rows].sort(([, a], [, b]) => a.untilMs - b.untilMs);
    const free = known.filter(([, row]) => freeAtMs(row) <= storeNowMs);
    const { node: preferred } = request;
    // A row that does not exist yet is free if the fence has passed.
    const unused = { fromMs: 0, untilMs: 0 };
    const hasNew = fenceMs <= storeNowMs;
    let node;
    if (
      preferred !== undefined &&
      preferred >= from &&
      preferred <= to &&
      freeAtMs(rows.get(preferred) ?? unused) <= storeNowMs
    )
      node = preferred;
    else if (free.length > 0) [[node]] = free;
    else if (hasNew) for (let next = from; next <= to && node === undefined; next++) if (!rows.has(next)) node = next;
    if (node === undefined) {
      const all = known.map(([, row]) => freeAtMs(row));
      if (rows.size < to - from + 1) all.push(fenceMs);
      const soonest = Math.min(...all);
      const fenced = known.some(([, row]) => row.untilMs <= storeNowMs) || rows.size < to - from + 1;
      return { granted: false, reason: fenced ? "fenced" : "exhausted", freeAtMs: soonest, storeNowMs };
    }
    const row = {
      fromMs: freeAtMs(rows.get(node) ?? unused),
      untilMs: storeNowMs + request.windowMs,
      grant: request.grant,
      nonce: request.nonce,
      owner: request.owner,
    };
    rows.set(node, row);
    return this.#granted(node, row, storeNowMs);
  }

  #renew(request) {
    const storeNowMs = this.now();
    const scope = this.#scopes.get(request.scope);
    const refusal = this.#refusal(scope, request, storeNowMs);
    if (refusal) return refusal;
    const { rows, fenceMs, windowMaxMs } = scope;
    const { node, grant, nonce, untilMs, windowMs } = request;
    const row = rows.get(node);
    const isBehind = row === undefined || row.untilMs < untilMs;
    // First, whoever has the row: what this holder was granted must not be granted again.
    if (isBehind && fenceMs < storeNowMs + windowMaxMs) return { granted: false, reason: "behind", storeNowMs };
    if (untilMs + windowMaxMs <= fenceMs) return { granted: false, reason: "fenced", storeNowMs };
    if (row === undefined || row.grant !== grant) return { granted: false, reason: "taken", storeNowMs };
    if (row.untilMs > untilMs && row.nonce !== nonce) return { granted: false, reason: "taken", storeNowMs };
    row.untilMs = Math.max(row.untilMs, untilMs, storeNowMs + windowMs);
    row.nonce = nonce;
    return this.#granted(node, row, storeNowMs);
  }

  #release({ scope: name, grant, node, untilMs, heldUntilMs }) {
    const row = this.#scopes.get(name)?.rows.get(node);
    if (row?.grant !== grant || row.untilMs > heldUntilMs) return false;
    row.untilMs = Math.max(row.fromMs, untilMs);
    row.grant = undefined;
    return true;
  }

  #ensure({ scope: name, behind }) {
    const scope = this.#scopes.get(name);
    if (scope === undefined) return Promise.reject(new LeaseError("STORE_NOT_INITIALISED", `no record of "${name}"`));
    const isOther = scope.incarnation !== this.incarnation;
    if (isOther || (behind && scope.fenceMs < this.now() + scope.windowMaxMs)) this.#raise(scope);
    scope.incarnation = this.incarnation;
  }
}
