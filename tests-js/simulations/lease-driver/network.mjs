// The network between the processes and the store: requests and answers that are late, lost, doubled, or cannot be true.
import { VERBS } from "../leases.mjs";

/** How many requests a generator may send in 10 s of its own time. Measured: at most 21 in 2,000 seeds. */
const MAX_REQUESTS = 30;

/** The store as a generator sees it, through a network with faults. */
export function storeOf(w, generator) {
  const { host } = generator;
  const { random } = w;
  const call = (verb) => (request) => {
    // A driver that asks without end must not do so here.
    if (w.failure) return new Promise(() => {});
    if (w.current !== host) throw new Error(`${verb} in the wrong process`);
    w.step(`${host.name}: ${verb} ${request.grant?.slice(0, 4) ?? ""} ${request.node ?? ""}`);
    generator.progress++;
    if (request.grant !== undefined) generator.grants.add(request.grant);
    if (verb !== "release") {
      const ownMs = w.ms - host.suspendedMs;
      generator.requests = generator.requests.filter((atMs) => atMs > ownMs - 10_000);
      generator.requests.push(ownMs);
      generator.most = Math.max(generator.most ?? 0, generator.requests.length);
      if (generator.requests.length > MAX_REQUESTS) w.fail(`${host.name} asks too often: ${generator.requests.length}`);
    }
    const open = {};
    for (const other of generator.outstanding) if (!other.isOver()) w.fail(`${host.name}: two attempts at a time`);
    generator.outstanding.clear();
    open.isOver = () => open.isSettled || request.signal.aborted;
    generator.outstanding.add(open);
    request.signal.addEventListener("abort", () => {
      generator.progress++;
      if (generator.byCalls && generator.state === "open") w.sometimes("a call gives up an attempt");
    });
    return new Promise((resolve, reject) => {
      const settle = (how, value) =>
        w.after(delay(), host, () => {
          if (generator.isDead || open.isSettled) return;
          open.isSettled = true;
          generator.progress++;
          const isLate = request.signal.aborted;
          const counts = isLate && generator.ids?.stats().lease;
          if (isLate && how === resolve && value?.granted === false) w.sometimes("a late refusal is dropped");
          how(value);
          if (counts && value?.granted) {
            w.after(0, host, () => {
              const now = generator.ids.stats().lease;
              if (now.acquired + now.renewed > counts.acquired + counts.renewed) w.sometimes("a late grant is used");
              else w.sometimes("an answer for an ended lease");
            });
          }
        });
      // A server does not hear of the signal.
      const { signal: _, ...sent } = request;
      const execute = () => w.carryOut(host.name, verb, sent);
      const delay = () => (w.faults && random.chance(0.15) ? random.below(1500 * w.scale) : 1 + random.below(20));
      const kind = w.faults ? random.next() : 1;
      w.after(delay(), undefined, async () => {
        if (generator.isDead || w.ms < w.storeAwayUntilMs) return;
        if (kind < 0.05) {
          w.sometimes("a request is lost");
          if (verb === "release") w.sometimes("a release is lost");
          return;
        }
        if (kind < 0.1) {
          await execute();
          w.sometimes("an answer is lost");
          return;
        }
        if (kind < 0.13) {
          w.sometimes("the store fails");
          if (random.chance(0.5)) await execute();
          settle(reject, new Error("connection reset"));
          return;
        }
        if (kind < 0.145) {
          const answer = await execute();
          w.sometimes("an answer that cannot be true");
          settle(
            resolve,
            random.one([
              undefined,
              { ...answer, granted: true, grant: "f".repeat(32) },
              { ...answer, granted: true, node: "1" },
              { granted: false, reason: "busy" },
            ]),
          );
          return;
        }
        const answer = await execute();
        if (kind < 0.2) {
          w.sometimes("a request is carried out twice");
          w.after(delay(), undefined, execute);
        }
        settle(resolve, answer);
      });
    });
  };
  return { name: "simulated", ...Object.fromEntries(VERBS.map((verb) => [verb, call(verb)])) };
}
