// Arguments that the compiler must refuse.
import { D1Store } from "frazil/stores/d1";
import { DurableObjectStore, durable, type FrazilLeases, leased, segmented } from "frazil/workers";

export async function wrong(
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  state: DurableObjectState,
): Promise<void> {
  // @ts-expect-error: all bindings
  leased(env, ctx);
  // @ts-expect-error: a database; new D1Store(env.DB) is a store
  leased(env.DB, ctx);
  // @ts-expect-error: a namespace of KV
  leased(env.KV, ctx);
  // @ts-expect-error: a stub
  leased(env.FRAZIL.get(env.FRAZIL.idFromName("lease/default")), ctx);
  // @ts-expect-error: a namespace of another class
  leased(env.ROOMS, ctx);
  // @ts-expect-error: a namespace of another class
  leased(env.ROOMS);
  // @ts-expect-error: a namespace of another class
  segmented(env.ROOMS, ctx, { tag: "orders" });
  // @ts-expect-error: the state of an object
  leased(state);
  // @ts-expect-error: nothing
  leased(undefined);
  // @ts-expect-error: the request is not the context
  leased(env.FRAZIL, request);
  // @ts-expect-error: nor are the bindings
  leased(env.FRAZIL, env);
  // @ts-expect-error: a number
  leased(env.FRAZIL, ctx, { windowMs: "5 minutes" });
  // @ts-expect-error: a misspelt option
  leased(env.FRAZIL, ctx, { windowsMs: 60_000 });
  // @ts-expect-error: a layout that there is not
  leased(env.FRAZIL, ctx, { layout: "tweeter" });
  // @ts-expect-error: generator and ID are not the same
  const id: bigint = await leased(env.FRAZIL, ctx);

  // @ts-expect-error: a namespace
  new D1Store(env.FRAZIL);
  // @ts-expect-error: a session, which may read from a replica
  new D1Store(env.DB.withSession());
  // @ts-expect-error: a database
  new DurableObjectStore(env.DB);
  // @ts-expect-error: a hint that there is not
  new DurableObjectStore(env.FRAZIL, { locationHint: "mars" });

  // @ts-expect-error: a namespace, not the state of an object
  durable(env.FRAZIL, { node: 0 });
  // @ts-expect-error: the context of a request
  durable(ctx, { node: 0 });
  // @ts-expect-error: there is no default node id
  durable(state, {});
  // @ts-expect-error: nor without options
  durable(state);
  // @ts-expect-error: an object has no time of a store
  durable(state, { node: 0, time: "store" });

  void id;
}

// @ts-expect-error: the compiler does not look into a type parameter
export const openIds = <N extends DurableObjectNamespace<FrazilLeases>>(namespace: N) => leased(namespace);
