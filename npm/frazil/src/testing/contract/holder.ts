/** The parts of scenarios in the lease contract: their own scopes, and holders that ask a store for leases. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Answer, Grant, LeaseStore, Refusal } from "../../stores/lease-store.js";

/** 128 random bits, as the driver draws them. @internal */
export const draw = (): string => randomBytes(16).toString("hex");

/** The built-in layout `"default"`, as `layoutText` writes it. */
const LAYOUT = "1704067200000 1ms time41 node10 sequence12";

/** The record of a scope at the start of a scenario. */
export interface ScenarioScope {
  readonly scope: string;
  /** The text of the built-in layout `"default"`. */
  readonly layout: typeof LAYOUT;
  readonly nodes: { readonly from: number; readonly to: number };
  readonly windowMaxMs: number;
}

/** An open store, and the controls over it. The last calls are optional: without one, its scenarios are skipped. */
export interface OpenStore {
  readonly store: LeaseStore;
  /** Writes the record of a scope. The layout is the built-in `"default"`. */
  init(scope: ScenarioScope): Promise<unknown>;
  /** Whether the store reads the clock of this process: if that is wrong, so is the clock of the store. */
  readonly hasClockOfProcess?: boolean;
  /** Whether the first `acquire` creates an unknown scope, as in an object that serves one scope. */
  readonly beginsScopes?: boolean;
  /** Another client of the same store, as in another process. Default: `store`. */
  connect?(): Promise<LeaseStore>;
  /** Moves the store's clock on, if tests control it: the scenarios then run one after the other. Default: waits. */
  pass?(ms: number): Promise<void>;
  close?(): Promise<void>;
  /** Steps the store's clock by `ms`, and leaves it there. */
  jumpClock?(ms: number): Promise<void>;
  /** Gives the store another incarnation and keeps all rows, like a failover that lost nothing. */
  changeIncarnation?(): Promise<void>;
  /**
   * Runs `work` once, between the read and the write of the next operation. For stores that read and write in two calls: they must notice
   * every change in between, even of the server.
   */
  beforeNextWrite?(work: () => Promise<void>): void;
  /** Stops the store: its operations fail, or wait. */
  stop?(): Promise<void>;
  /** Starts it again, with everything that it acknowledged. */
  start?(): Promise<void>;
}

/** A scenario's own scope in the tested store. @internal */
export class Scope {
  readonly open: OpenStore;
  readonly record: ScenarioScope;

  constructor(open: OpenStore, record: ScenarioScope) {
    this.open = open;
    this.record = record;
  }

  /** A process that asks for a lease of this scope. All of them have the same owner, which must not matter. */
  holder(windowMs: number, store = this.open.store): Holder {
    return new Holder(this, store, windowMs);
  }

  /** Moves the store's clock on. */
  async pass(ms: number): Promise<void> {
    if (this.open.pass) await this.open.pass(ms);
    else await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** The tools of a scenario. */
export class Bench {
  readonly open: OpenStore;
  constructor(open: OpenStore) {
    this.open = open;
  }

  /** A new scope with the node ids 0 to 3, or others. @internal */
  async scope(options: { nodes?: { from: number; to: number }; windowMaxMs?: number } = {}): Promise<Scope> {
    const { nodes = { from: 0, to: 3 }, windowMaxMs = 60_000 } = options;
    const record: ScenarioScope = {
      scope: `contract-${randomBytes(6).toString("hex")}`,
      layout: LAYOUT,
      nodes,
      windowMaxMs,
    };
    await this.open.init(record);
    return new Scope(this.open, record);
  }
}

/** A process with a lease, as the driver keeps it: its grant, and the end of the window as far as known. @internal */
export class Holder {
  readonly scope: Scope;
  store: LeaseStore;
  windowMs: number;
  grant = draw();
  node = -1;
  untilMs = -1;

  constructor(scope: Scope, store: LeaseStore, windowMs: number) {
    this.scope = scope;
    this.store = store;
    this.windowMs = windowMs;
  }

  /** A copy of this process, as from a snapshot of its machine. */
  clone(): Holder {
    return Object.assign(new Holder(this.scope, this.store, this.windowMs), this);
  }

  #window(nonce: string) {
    const { scope, layout } = this.scope.record;
    return { scope, layout, grant: this.grant, nonce, windowMs: this.windowMs };
  }

  /** Asks for a lease, and keeps it if granted. */
  async acquire(given: { node?: number; layout?: string; signal?: AbortSignal; nonce?: string } = {}): Promise<Answer> {
    const { nonce = draw(), ...rest } = given;
    return this.#keep(await this.store.acquire({ ...this.#window(nonce), owner: "contract", ...rest }));
  }

  /** Asks for more time, and keeps it if granted. */
  async renew(given: { nonce?: string; untilMs?: number; node?: number; layout?: string } = {}): Promise<Answer> {
    const { nonce = draw(), ...rest } = given;
    const { node, untilMs } = this;
    return this.#keep(await this.store.renew({ ...this.#window(nonce), node, untilMs, ...rest }));
  }

  /** Gives the lease back: the node id is free from `untilMs` on. */
  release(untilMs: number): Promise<boolean> {
    const { scope } = this.scope.record;
    return this.store.release({ scope, grant: this.grant, node: this.node, untilMs, heldUntilMs: this.untilMs });
  }

  ensure(behind: boolean): Promise<void> {
    return this.store.ensure({ scope: this.scope.record.scope, behind });
  }

  #keep(answer: Answer): Answer {
    if (answer.granted) {
      this.node = answer.node;
      this.untilMs = Math.max(this.untilMs, answer.untilMs);
    }
    return answer;
  }
}

/** The lease in an answer that must be a grant with every number present. @internal */
export function granted(answer: Answer): Grant {
  assert.ok(answer.granted, `refused: ${JSON.stringify(answer)}`);
  for (const key of ["node", "fromMs", "untilMs", "storeNowMs"] as const)
    assert.ok(Number.isSafeInteger(answer[key]), `${key} is ${answer[key]}`);
  return answer;
}

/** The refusal in an answer that must be one for this reason. @internal */
export function refused(answer: Answer, ...reasons: Refusal["reason"][]): Refusal {
  assert.ok(!answer.granted, `granted: ${JSON.stringify(answer)}, in the place of: ${reasons.join(", ")}`);
  assert.ok(reasons.includes(answer.reason), `${JSON.stringify(answer)}, in the place of: ${reasons.join(", ")}`);
  if (answer.reason !== "missing") assert.ok(Number.isSafeInteger(answer.storeNowMs), "storeNowMs is missing");
  return answer;
}

/** A holder with a new lease. @internal */
export async function leased(scope: Scope, windowMs: number, options?: { node?: number }): Promise<[Holder, Grant]> {
  const holder = scope.holder(windowMs);
  const lease = granted(await holder.acquire(options));
  assert.ok(lease.fromMs <= lease.storeNowMs, `the window begins in the future: ${JSON.stringify(lease)}`);
  return [holder, lease];
}

/** One scenario of the contract. */
export interface Scenario {
  readonly name: string;
  /** Required abilities of the store. Without them the scenario is skipped. */
  readonly needs?: readonly ("jumpClock" | "changeIncarnation" | "beforeNextWrite" | "stop")[];
  /** Whether it sets the clock of this process wrong. The store must have another clock. */
  readonly skewsClient?: boolean;
  /** Whether it asks for a scope without a record, which must be refused. */
  readonly missesRecord?: boolean;
  /** Whether it runs alone, because it changes something that all scopes share, such as a clock, or keeps the store busy. */
  readonly alone?: boolean;
  run(bench: Bench): Promise<void>;
}
