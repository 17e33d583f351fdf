// A broken lease, as most generators with a lease have: its holder acquires a node id for so long by its own clock, and nothing
// bounds the times in the IDs.
import { Snowflake } from "frazil";
import { attempt } from "../stores/kit/attempts.mjs";

/** Acquires such a lease in a scope. */
export async function leaseUntilTimeout(store, { scope, windowMs }) {
  const answer = await store.acquire(attempt({ scope, windowMs }));
  if (!answer.granted) throw Object.assign(new Error(answer.reason), { code: "NODE_IDS_EXHAUSTED" });
  const { node } = answer;
  const ids = new Snowflake({ node, now: Date.now, maxLeadMs: 1000 });
  return { node, ids, expiresAtMs: Date.now() + windowMs };
}
