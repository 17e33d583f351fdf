import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { Layout, Snowflake } from "frazil";
import { FrazilLeases, leased } from "frazil/workers";
import { expect, test } from "vitest";

test("a test mints by the lease of the Worker's own object", async () => {
  const ids = await leased(env.FRAZIL);
  expect(ids).toBeInstanceOf(Snowflake);
  const first = ids.next();
  expect(ids.next()).toBeGreaterThan(first);
  expect(Layout.named("edge").decode(first).node).toBe(ids.node);
});

test("the Worker mints when it is called", async () => {
  const response = await exports.default.fetch("http://localhost/");
  const { many, backend, oneCopy } = (await response.json()) as { many: string[]; backend: string; oneCopy: boolean };
  expect({ backend, oneCopy }).toEqual({ backend: "wasm", oneCopy: true });
  expect(new Set(many).size).toBe(1000);
});

test("a held lease outlives an abort of the object, whose rows stay", async () => {
  const { node } = await leased(env.FRAZIL);
  await abortAllDurableObjects();
  expect((await leased(env.FRAZIL)).node).toBe(node);
  const other = await leased(env.FRAZIL, { scope: "other" });
  expect(other.decode(other.next()).node).toBe(other.node);
  const stub = env.FRAZIL.get(env.FRAZIL.idFromName("lease/default"));
  const rows = await runInDurableObject(stub, (object, { storage }) => {
    expect(object).toBeInstanceOf(FrazilLeases);
    return storage.sql.exec("SELECT node FROM frazil_leases WHERE until_ms > 0").toArray();
  });
  expect(rows).toEqual([{ node }]);
});
