// `leave()`: the store numbers by itself, beyond the largest number of Leaf.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LeafStore } from "frazil/stores/zookeeper";
import { told } from "../../base/rule-texts.mjs";
import { attempt, hex, stoppingPlace } from "../kit/attempts.mjs";
import { call } from "../zookeeper/server.mjs";
import { administrator, folderOf, LEAF, laterBy, newFleet } from "./leaf-fleet.mjs";

// docs/internals/claims.md: 22
test("after leave() the store numbers beyond the largest number of Leaf, and holders go on without the folder", async () => {
  const fleet = newFleet();
  const { scope } = fleet;
  const [first, second] = await folderOf(fleet, Date.now(), Date.now());
  const store = fleet.store();
  await store.init({ scope, layout: "leaf" });
  const held = await store.acquire(attempt({ scope, layout: LEAF, windowMs: 20_000 }));
  assert.equal(held.node, 2);
  // Servers of Leaf that may run, and another scope that draws from the folder.
  await assert.rejects(
    store.leave({ scope }),
    told({
      code: "STATE_CONFLICT",
      message: /address must have been silent for 5 minutes, got "10\.0\.0\.1:800\d"\. It wrote/,
    }),
  );
  const later = new LeafStore(laterBy(administrator, 10 * 60_000), { leafName: fleet.leafName });
  await store.init({ scope: `${scope}-2`, layout: "leaf" });
  const foreign = await store.acquire(attempt({ scope: `${scope}-2`, layout: LEAF }));
  await assert.rejects(later.leave({ scope }), told({ code: "STORE_REFUSED", message: /of another scope/ }));
  const [names] = await call(administrator, "getChildren", fleet.forever);
  const other = names.find((name) => name.endsWith(`-000000000${foreign.node}`));
  await call(administrator, "remove", `${fleet.forever}/${other}`);
  await assert.rejects(later.leave({ scope: "nowhere" }), { code: "STORE_NOT_INITIALISED" });
  // A scope of the wrong store.
  const { ZooKeeperStore } = await import("frazil/stores/zookeeper");
  const plain = new ZooKeeperStore(administrator);
  await assert.rejects(
    plain.acquire(attempt({ scope, layout: LEAF })),
    told({
      code: "STORE_REFUSED",
      message: /LeafStore/,
    }),
  );

  await later.leave({ scope });
  await assert.rejects(later.leave({ scope }), { code: "STATE_CONFLICT" });
  for (const name of [first, second]) await call(administrator, "remove", name);
  for (const name of (await call(administrator, "getChildren", fleet.forever))[0])
    await call(administrator, "remove", `${fleet.forever}/${name}`);
  await call(administrator, "remove", fleet.forever);
  const renewed = await store.renew({
    scope,
    grant: held.grant,
    node: held.node,
    untilMs: held.untilMs,
    nonce: hex(),
    windowMs: 30_000,
    layout: LEAF,
  });
  assert.ok(renewed.granted && renewed.untilMs > held.untilMs);
  const nodes = [];
  for (const each of [store, plain, store]) nodes.push((await each.acquire(attempt({ scope, layout: LEAF }))).node);
  assert.equal(new Set(nodes).size, 3);
  for (const node of nodes) assert.ok(node > foreign.node, `${nodes}`);
});

test("a process that was paused during leave() adds no number after it, and a call that was broken off is repeated", async () => {
  const fleet = newFleet();
  const { scope } = fleet;
  await folderOf(fleet, 0);
  await fleet.store().init({ scope, layout: "leaf" });
  const late = laterBy(administrator, 10 * 60_000);
  // A process that is paused before it takes a number, and one whose leave() ends before the record is written.
  const { stop, arrived, goOn } = stoppingPlace();
  const client = new Proxy(administrator, {
    get(target, name) {
      const value = target[name];
      if (name !== "transaction") return typeof value === "function" ? value.bind(target) : value;
      return () => {
        const transaction = target.transaction();
        const commit = transaction.commit.bind(transaction);
        const create = transaction.create.bind(transaction);
        let isNumber = false;
        transaction.create = (path, ...rest) => {
          isNumber ||= path.startsWith(fleet.forever);
          return create(path, ...rest);
        };
        transaction.commit = (callback) => (isNumber ? stop().then(() => commit(callback)) : commit(callback));
        return transaction;
      };
    },
  });
  const slow = new LeafStore(client, { leafName: fleet.leafName });
  const acquired = slow.acquire(attempt({ scope, layout: LEAF })).catch((error) => error);
  await arrived;
  const record = `/frazil/${scope}`;
  const broken = new Proxy(late, {
    get(target, name) {
      const value = target[name];
      if (name !== "setData") return typeof value === "function" ? value.bind(target) : value;
      return (path, ...rest) =>
        path === record ? rest.at(-1)(Object.assign(new Error("gone"), { code: -4 })) : value(path, ...rest);
    },
  });
  await assert.rejects(new LeafStore(broken, { leafName: fleet.leafName }).leave({ scope }));
  await assert.rejects(
    fleet.store().acquire(attempt({ scope, layout: LEAF })),
    told({
      code: "STORE_UNAVAILABLE",
      message: /leave\(\) was called/,
    }),
  );
  await new LeafStore(late, { leafName: fleet.leafName }).leave({ scope });
  goOn();
  assert.equal((await acquired).code, "STORE_UNAVAILABLE");
  const nodes = [];
  for (let at = 0; at < 2; at++) nodes.push((await fleet.store().acquire(attempt({ scope, layout: LEAF }))).node);
  assert.ok(nodes[0] !== nodes[1] && nodes.every((node) => node >= 1), `${nodes}`);
});
