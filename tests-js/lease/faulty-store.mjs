// The store in memory of the package, with faults that a test switches on between it and its clients, and with what it was asked.
import { Layout } from "frazil";
import { MemoryLeaseStore } from "frazil/testing";

/** Bound before any test replaces it: the store is another machine, whose clock a test of this one does not move. */
const wallClock = Date.now.bind(Date);

export class FaultyStore extends MemoryLeaseStore {
  /** Every call, in order: the verb, the request, and the answer once there is one. */
  calls = [];
  /** What was granted, in order: `{ grant, node, fromMs, untilMs }`. */
  grants = [];

  /**
   * @param now the store's clock.
   * @param fault what happens to a call: `(verb, execute, request) => answer`. It decides whether and when `execute()` runs, which
   * is the atomic step, and what the caller hears of it.
   */
  constructor({ now = wallClock, fault = (_verb, execute) => execute() } = {}) {
    super({ now: () => this.now() });
    this.now = now;
    this.fault = fault;
  }

  /** A store with one scope. */
  static with({ now, fault, ...scope } = {}) {
    const store = new FaultyStore({ now, fault });
    store.addScope(scope);
    return store;
  }

  /** As `init()`, at once, with all node ids of the layout, and with any longest window. */
  addScope({ scope = "default", layout = "default", nodes = {}, windowMaxMs = 60_000 } = {}) {
    const { from = 0, to = Layout.from(layout).plan().nodes - 1 } = nodes;
    void this.init({ scope, layout, nodes: { from, to } });
    const kept = this.save();
    this.restore(new Map(kept).set(scope, { ...kept.get(scope), windowMaxMs }));
  }

  fenceMs(scope = "default") {
    return this.save().get(scope).fenceMs;
  }

  acquire(request) {
    return this.#call("acquire", request, (sent) => super.acquire(sent));
  }

  renew(request) {
    return this.#call("renew", request, (sent) => super.renew(sent));
  }

  release(request) {
    return this.#call("release", request, (sent) => super.release(sent));
  }

  ensure(request) {
    return this.#call("ensure", request, (sent) => super.ensure(sent));
  }

  #call(verb, request, carryOut) {
    const call = { verb, request, atMs: this.now() };
    this.calls.push(call);
    // A server does not hear of a signal.
    const { signal: _, ...sent } = request;
    const execute = async () => {
      const answer = await carryOut(sent);
      if (answer?.granted) {
        const { grant, node, fromMs, untilMs } = answer;
        this.grants.push({ grant, node, fromMs, untilMs });
      }
      call.answer = answer;
      return answer;
    };
    const answer = this.fault(verb, execute, request);
    return answer instanceof Promise ? answer : Promise.resolve(answer);
  }
}
