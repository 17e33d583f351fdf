// Generators as resources, which needs `esnext.disposable` in `lib`.
import { durable, leased, type ObjectState } from "frazil/workers";

export async function leasedIds(env: Env, ctx: ExecutionContext): Promise<bigint> {
  await using ids = await leased(env.FRAZIL, ctx);
  return ids.next();
}

export function ownIds(ctx: DurableObjectState): bigint {
  const state: ObjectState = ctx;
  using ids = durable(state, { node: 0 });
  return ids.next();
}

/** Where the type of the bindings is open. */
export const idsOf = <E extends Pick<Env, "FRAZIL" | "ELSEWHERE">>(env: E) => [
  leased(env.FRAZIL),
  leased(env.ELSEWHERE),
];
