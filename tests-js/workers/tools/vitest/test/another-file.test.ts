import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { leased } from "frazil/workers";
import { expect, test } from "vitest";

test("each test file has an isolate and objects of its own", async () => {
  const ids = await leased(env.FRAZIL);
  expect(ids.stats().issued).toBe(0);
  const stub = env.FRAZIL.get(env.FRAZIL.idFromName("lease/default"));
  const leases = await runInDurableObject(stub, (_, { storage }) =>
    storage.sql.exec("SELECT node FROM frazil_leases WHERE until_ms > 0").toArray(),
  );
  expect(leases).toEqual([{ node: ids.node }]);
});
