// A lease from its grant to its release, in any runtime. Returns what happened, for a test to compare.
import { EtcdStore } from "frazil/stores/etcd";

export async function oneLease(port, scope) {
  const store = new EtcdStore({ endpoints: [`http://127.0.0.1:${port}`] });
  await store.init({ scope, layout: "default" });
  const layout = "1704067200000 1ms time41 node10 sequence12";
  const window = { scope, layout, grant: "a".repeat(32), windowMs: 30_000 };
  const lease = await store.acquire({ ...window, nonce: "b".repeat(32), owner: "é∆ 漢字" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { node, untilMs } = lease;
  const renewed = await store.renew({ ...window, nonce: "c".repeat(32), node, untilMs });
  const released = await store.release({ ...window, node, untilMs: 0, heldUntilMs: renewed.untilMs });
  return { granted: lease.granted, isLater: renewed.untilMs > untilMs, released };
}
