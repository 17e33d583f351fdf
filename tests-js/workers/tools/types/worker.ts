// A Worker that uses all calls of `frazil/workers`.
import { DurableObject } from "cloudflare:workers";
import type { Snowflake } from "frazil";
import { D1Store } from "frazil/stores/d1";
import {
  DurableObjectStore,
  durable,
  FrazilLeases,
  type LeasedSnowflake,
  leased,
  locationHintOf,
  segmented,
} from "frazil/workers";
import { check, type Equal } from "./equal.ts";

export { FrazilLeases } from "frazil/workers";

/** A class of leases with a method of the user. */
export class OwnLeases extends FrazilLeases {
  constructor(
    ctx: DurableObjectState,
    readonly bindings: Env,
  ) {
    super(ctx, bindings);
  }

  ping(): string {
    return "pong";
  }
}

/** An object that numbers its own rows, and also has IDs by a lease. */
export class Room extends DurableObject<Env> {
  readonly ids = durable(this.ctx, { node: 0 });
  readonly wide = durable(this.ctx, { node: { datacenter: 1, worker: 2 }, layout: "twitter", scope: "wide" });

  async post(): Promise<string> {
    check<Equal<typeof this.ids, Snowflake<"edge">>>();
    check<Equal<typeof this.wide, Snowflake<"twitter">>>();
    const leasedIds = await leased(this.env.FRAZIL);
    return `${this.ids.nextString()} ${leasedIds.next()}`;
  }
}

export default {
  async fetch(request, env, ctx) {
    const ids = await leased(env.FRAZIL, ctx);
    check<Equal<typeof ids, LeasedSnowflake<"edge">>>();

    // Namespaces: of a subclass, and without a parameter.
    await leased(env.OWN, ctx);
    await leased(env.ELSEWHERE, ctx, { windowMs: 60_000 });
    const elsewhere: DurableObjectNamespace = env.FRAZIL;
    new DurableObjectStore(elsewhere);
    // Of another class, which only the calls without a store tell from one without a parameter: the first request is refused.
    new DurableObjectStore(env.ROOMS);
    const either: DurableObjectNamespace<OwnLeases> | D1Store = Date.now() > 0 ? env.OWN : new D1Store(env.DB);
    await leased(either, ctx);
    await leased<"twitter">(env.FRAZIL, ctx, { layout: "twitter" });

    const store = new DurableObjectStore(env.FRAZIL, { locationHint: locationHintOf(request.cf) });
    const twitter = await leased(store, ctx, { layout: "twitter", scope: "orders", time: "store" });
    check<Equal<typeof twitter, LeasedSnowflake<"twitter">>>();
    check<Equal<Awaited<ReturnType<typeof store.fence>>, number>>();
    await leased(new D1Store(env.DB), ctx);

    const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
    check<Equal<Awaited<ReturnType<typeof orders.next>>, bigint>>();
    segmented(new D1Store(env.DB), { tag: "orders", step: 1 }).tryNext();

    // The methods of a stub are those of the class.
    const stub = env.OWN.get(env.OWN.idFromName("any"));
    check<Equal<Awaited<ReturnType<typeof stub.ping>>, string>>();

    ctx.waitUntil(ids.close());
    return Response.json({ id: ids.nextString() });
  },
  async queue(batch, env, ctx) {
    const ids = await leased(env.FRAZIL, ctx);
    for (const { id } of batch.messages) console.log(id, ids.nextString());
  },
  async scheduled(_, env, ctx) {
    const ids = await leased(env.FRAZIL, ctx);
    console.log(ids.nextString());
  },
} satisfies ExportedHandler<Env>;
