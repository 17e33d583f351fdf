// A deterministic simulation of the lease driver: three processes with their own clocks, a store, and a network between them, in fake time.
// What happens follows from a seed.
//
//   node tests-js/simulations/lease-driver/simulation.mjs SEED [NAME]    replays a seed, with a line for each step,
//                                                                           on a driver of broken.mjs
//
// Checked in every run: no ID twice; the time of each ID within a window that its generator was granted; one attempt at a time; a
// bounded rate of requests; `retryAfterMs` is true; after the faults stop everybody mints again; after `close()` nothing is left.
// Where only calls renew: no timer is set while no call waits.
import "./hosts.mjs";
import { lease as shipped } from "frazil/lease";
import { SCOPE, withLeases } from "../leases.mjs";
import { main } from "../main.mjs";
import { SimulatedWorld } from "../world.mjs";
import { BROKEN, load } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";
import { Generator, Host } from "./hosts.mjs";
import { storeOf } from "./network.mjs";

class World extends withLeases(SimulatedWorld, "default") {
  hosts = ["a", "b", "c"].map((name) => new Host(name));

  /** `lease` is the call of the driver. */
  constructor(seed, lease, log) {
    super(seed, { log, name: "lease-driver", listed: SOMETIMES });
    this.lease = lease;
  }

  /** Runs something in a process after so much true time. */
  after(delayMs, host, run) {
    return this.add({ atMs: this.ms + delayMs, host, run });
  }

  /** Runs code of a process, and everything that follows from it in the same turn. */
  run(host, code) {
    return this.turn(host, code);
  }

  /** A process that is held runs what was due as soon as it can. */
  dueMs({ atMs, host }) {
    return Math.max(atMs, host?.heldUntilMs ?? 0);
  }

  runEvent({ host, run }) {
    return this.run(host, run);
  }

  isHeld(host) {
    return host.heldUntilMs > this.ms;
  }

  /** Checks IDs of a generator. `isSync`: whether they came from a synchronous call. */
  check(generator, ids, isSync) {
    const wrong = this.ids.check(generator.host.name, generator.grants, ids);
    if (wrong !== undefined) this.fail(wrong);
    for (const id of ids) {
      const { node } = this.ids.decode(id);
      generator.nodes.add(node);
      if (!isSync) continue;
      if (node !== generator.ids.node)
        this.fail(`${generator.host.name}: an ID of node ${node}, but node is ${generator.ids.node}`);
      if (id <= generator.last && generator.options.sequenceStart !== "wrap")
        this.fail(`${generator.host.name}: not in order`);
      if (id > generator.last) generator.last = id;
    }
    if (generator.nodes.size > 1) this.sometimes("a generator has two node ids");
  }

  /** A refusal of a synchronous call: is the time to wait true? */
  checkRefusal(generator, error) {
    const { code, retryAfterMs } = error;
    const known = ["LEASE_EXPIRED", "LEASE_LOST", "CLOCK_BACKWARD", "SEQUENCE_EXHAUSTED", "CLOSED"];
    if (!known.includes(code)) this.fail(`${generator.host.name}: ${error.stack}`);
    this.step(`${generator.host.name}: ${code} ${retryAfterMs ?? ""}`);
    if (code === "CLOSED" && generator.state === "open") this.fail("CLOSED, and it was not closed");
    if (code !== "LEASE_EXPIRED" && code !== "LEASE_LOST") return;
    this.sometimes(code);
    const isInFlight = [...generator.outstanding].some((open) => !open.isOver());
    if (isInFlight && code === "LEASE_EXPIRED") this.sometimes("expired while a renewal is in flight");
    if (!(Number.isInteger(retryAfterMs) && retryAfterMs >= 1 && retryAfterMs <= 5000))
      this.fail(`retryAfterMs is ${retryAfterMs}`);
    const { progress } = generator;
    const isStuck = () => generator.state === "open" && generator.progress === progress;
    const said = () =>
      this.fail(`${generator.host.name}: ${code} said ${retryAfterMs} ms, and nothing has happened since`);
    // In the time of the process: if it is suspended, this comes as late as its timers.
    const event = this.after(retryAfterMs + 2, generator.host, () => {
      if (!isStuck()) return;
      if (!generator.byCalls) said();
      // Only a call does anything: it mints, or it asks the store.
      try {
        this.check(generator, [generator.ids.next()], true);
      } catch (error) {
        if (error.code === undefined) throw error;
        if (error.code.startsWith("LEASE_")) this.after(1, generator.host, () => isStuck() && said());
      }
    });
    event.isOwnTime = true;
  }

  openGenerator(host) {
    const { random } = this;
    const options = {
      scope: SCOPE,
      windowMs: this.windowMs,
      maxAsyncWaitMs: random.one([200, 1000, 5000]),
      time: random.one(["wall", "store"]),
      renew: random.one(["timer", "calls"]),
      sequenceStart: random.one(["zero", "random", "wrap"]),
      ...(random.chance(0.3) && { node: random.below(4) }),
      ...(random.chance(0.3) && { maxLeadMs: 0 }),
    };
    const generator = new Generator(host, options);
    host.generators.push(generator);
    const controller = new AbortController();
    if (this.faults && random.chance(0.1)) {
      this.after(random.below(1000), host, () => {
        if (generator.state === "opening") this.sometimes("lease() is aborted");
        controller.abort(new Error("stop"));
      });
    }
    this.step(`${host.name}: lease() ${JSON.stringify(options)}`);
    this.lease(storeOf(this, generator), { ...options, signal: controller.signal }).then(
      (ids) => {
        generator.ids = ids;
        for (const event of ["acquired", "renewed", "lost", "refused"]) {
          ids.on(event, (detail) => {
            this.step(`${host.name}: ${event} ${detail.message ?? JSON.stringify(detail)}`);
            this.sometimes(event);
            if (generator.byCalls && event === "renewed") this.sometimes("a call renews");
            if (event === "lost" && ids.node !== undefined)
              this.failure ??= new Error(`seed ${this.seed}: lost, with a node id`);
          });
        }
        this.sometimes("acquired");
        if (generator.state === "opening") generator.state = "open";
        this.step(`${host.name}: open with node ${ids.node}`);
      },
      (error) => {
        if (generator.state === "opening") generator.state = "rejected";
        this.step(`${host.name}: lease() rejects: ${error.message}`);
        if (error.message !== "stop" && error.retryable) this.sometimes("lease() gives up");
      },
    );
  }

  inProcess(name, host) {
    const { random } = this;
    const generator = host.generators.findLast(({ ids }) => ids !== undefined);
    if (name === "open") {
      if (!host.generators.some(({ state }) => state === "open" || state === "opening")) this.openGenerator(host);
      return;
    }
    if (generator === undefined || generator.isDead) return;
    const { ids } = generator;
    if (name === "close") {
      if (generator.state !== "open") return;
      if ([...generator.outstanding].some((open) => !open.isOver()))
        this.sometimes("close() while an attempt is under way");
      this.closeGenerator(generator);
      return;
    }
    if (name === "crash") {
      this.step(`${host.name} crashes`);
      this.sometimes("a process crashes");
      generator.isDead = true;
      generator.state = "crashed";
      return;
    }
    if (name === "mintAsync") {
      if (generator.state !== "open") return;
      const controller = new AbortController();
      const abortMs = random.chance(0.4) ? random.below(800) : undefined;
      const beganMs = this.ms;
      const count = random.one([1, 10, 10, 5000]);
      let isOver = false;
      if (abortMs !== undefined) {
        this.after(abortMs, host, () => {
          if (!isOver) this.sometimes("a call is aborted");
          controller.abort(new Error("stop"));
        });
      }
      const { signal } = controller;
      const isReady = random.chance(0.3);
      generator.waiting++;
      const call = isReady
        ? ids.ready({ signal }).then(() => {
            // Nothing has run since, so an ID can be minted, unless another call that was woken took the last one of the tick.
            const { refusal } = ids.health();
            if (refusal && refusal.code !== "SEQUENCE_EXHAUSTED")
              this.failure ??= new Error(`seed ${this.seed}, ${this.ms} ms: ready(), but ${refusal.message}`);
            return [];
          })
        : ids.nextManyAsync(count, { signal });
      call.finally(() => generator.waiting--).catch(() => {});
      call.then(
        (minted) => {
          isOver = true;
          if (this.ms - beganMs > 5) this.sometimes("a call waits and is woken");
          try {
            this.check(generator, minted, false);
          } catch (error) {
            this.failure ??= error;
          }
        },
        (error) => {
          isOver = true;
          this.step(`${host.name}: nextManyAsync(${count}): ${error.message}`);
          if (error.code?.startsWith("LEASE_")) this.sometimes("a call gives up");
        },
      );
      return;
    }
    if (generator.state === "closing") this.sometimes("minting while it closes");
    try {
      const minted =
        name === "mint"
          ? Array.from({ length: 1 + random.below(6) }, () => ids.next())
          : ids.nextMany(random.one([50, 500, 500]));
      this.step(`${host.name}: ${minted.length} IDs`);
      this.check(generator, minted, true);
    } catch (error) {
      if (error.code === undefined) throw error;
      this.checkRefusal(generator, error);
    }
  }

  closeGenerator(generator) {
    generator.state = "closing";
    this.step(`${generator.host.name}: close()`);
    const beganMs = this.ms;
    for (const delayMs of [3, 12, 30]) {
      this.after(delayMs, generator.host, () => {
        if (generator.state === "closing" && this.faults) this.inProcess("mint", generator.host);
      });
    }
    generator.ids.close().then(
      () => {
        generator.state = "closed";
        generator.closedAfterMs = this.ms - beganMs;
        this.step(`${generator.host.name}: closed`);
      },
      (error) => {
        this.failure ??= error;
      },
    );
  }

  /** Where only calls renew, a process has no timers but those of calls that wait. */
  checkBetween() {
    for (const host of this.hosts) {
      const isQuiet = ({ byCalls, state, waiting }) => byCalls && state === "open" && waiting === 0;
      if (!host.generators.every(isQuiet)) continue;
      const timers = this.events.filter((event) => event.isTimer && event.host === host);
      if (timers.length > 0) this.fail(`${timers.length} timers of ${host.name} outlive a call`);
      if (host.generators.length > 0) this.sometimes("nothing runs between calls");
    }
  }

  /** The process does anything that is no method, unless it is held. */
  act(name, host) {
    if (name in this) return this[name](host);
    return this.isHeld(host) ? undefined : this.run(host, () => this.inProcess(name, host));
  }

  suspend(host) {
    if (this.isHeld(host)) return;
    const forMs = this.scale * this.random.one([500, 2000, 5000]);
    this.step(`${host.name} is suspended for ${forMs} ms`);
    if (host.open && forMs > this.windowMs) this.sometimes("a process is suspended over its window");
    host.heldUntilMs = this.ms + forMs;
    host.suspendedMs += forMs;
    for (const event of this.events) if (event.host === host && (event.isTimer || event.isOwnTime)) event.atMs += forMs;
  }

  block(host) {
    if (this.isHeld(host)) return;
    const forMs = this.scale * this.random.one([100, 400, 2000]);
    this.step(`the event loop of ${host.name} is blocked for ${forMs} ms`);
    host.heldUntilMs = this.ms + forMs;
    if (forMs > this.timeoutMs && host.open?.outstanding.size)
      this.sometimes("an event loop is blocked over a time-out");
  }

  stepClock(host) {
    const { random } = this;
    const stepMs = this.scale * random.one([-5000, -1500, -50, 50, 1500, 5000]);
    host.wallAheadMs = random.chance(0.3) ? 0 : host.wallAheadMs + stepMs;
    this.step(`the clock of ${host.name} is ${host.wallAheadMs} ms ahead`);
    if (stepMs < 0) this.sometimes("a clock goes back");
    if (host.wallAheadMs > this.windowMs) this.sometimes("a clock is a window ahead");
    return this.act("mint", host);
  }
}

const ACTIONS = {
  mint: 30,
  mintMany: 8,
  mintAsync: 8,
  open: 14,
  close: 4,
  crash: 2,
  stepClock: 4,
  suspend: 3,
  block: 3,
  storeAway: 2,
  storeLosesWrites: 1,
  stepStoreClock: 1,
};

/** Runs a seed. Returns what happened in it. */
export async function simulate(seed, { lease = shipped, log } = {}) {
  const w = new World(seed, lease, log);
  await w.happen(60, 500, ACTIONS, () => w.hosts);
  // The faults stop, the clocks are set right, and everybody mints again.
  w.calm();
  for (const host of w.hosts) host.wallAheadMs = 0;
  // A clock that was set is drift, after which a lease with store time asks the store first.
  await w.advance(25_000 * w.scale);
  for (const host of w.hosts) {
    for (const generator of host.generators.filter(({ state }) => state === "open")) {
      await w.run(host, () => {
        try {
          w.check(generator, [generator.ids.next()], true);
        } catch (error) {
          if (error.code === undefined) throw error;
          w.wanted = error;
        }
      });
      if (w.wanted && generator.byCalls) {
        w.wanted = undefined;
        const isReady = async () => {
          let outcome;
          await w.run(host, () => {
            generator.ids.ready().then(
              () => {
                outcome = true;
              },
              (error) => {
                outcome = error;
              },
            );
          });
          await w.advance(6000);
          return outcome;
        };
        // The first calls, which may wait for 200 ms only, find that writes were lost, and the fence has to pass.
        let outcome;
        for (let calls = 0; calls < 4 && outcome !== true; calls++) {
          if (calls > 0) await w.advance(5000 + 2 * w.windowMs);
          outcome = await isReady();
        }
        if (outcome !== true) w.fail(`${host.name} does not mint again: ${outcome?.message}`);
      }
      if (w.wanted) {
        w.wanted = undefined;
        // Where the clock was the problem, the first refused call has the store asked.
        await w.advance(6000);
        await w
          .run(host, () => w.check(generator, [generator.ids.next()], true))
          .catch((error) => w.fail(`${host.name} does not mint again: ${error.message}`));
      }
    }
  }
  for (const host of w.hosts) {
    await w.run(host, () => {
      for (const generator of host.generators)
        if (generator.ids && generator.state !== "closed") w.closeGenerator(generator);
    });
  }
  const closingMs = w.ms;
  while (w.hosts.some(({ generators }) => generators.some(({ state }) => state === "closing" || state === "opening"))) {
    if (w.ms - closingMs > 3 * w.timeoutMs) w.fail("close() takes too long");
    await w.advance(10);
  }
  const left = w.events.filter(({ isTimer }) => isTimer);
  if (left.length > 0) w.fail(`${left.length} timers are left after close()`);
  for (const host of w.hosts)
    for (const { ids } of host.generators) if (ids && ids.node !== undefined) w.fail("a node id after close()");
  const most = Math.max(0, ...w.hosts.flatMap(({ generators }) => generators.map(({ most = 0 }) => most)));
  return { seen: w.seen, ids: w.ids.size, most };
}

if (process.argv[1] === import.meta.filename) await main({ simulate, broken: BROKEN, load });
