// Requests to a store in a scope of the layout "default", each an attempt of its own, and what tests ask about the answers.
import { randomBytes } from "node:crypto";
import { Layout } from "frazil";
import { layoutText } from "frazil/lease";

/** 128 random bits: a grant or a nonce. */
export const hex = () => randomBytes(16).toString("hex");
export const layout = layoutText(Layout.named("default"));

/** A request for a node id. `more` says what is different. */
export const attempt = (more) => ({
  scope: "s",
  grant: hex(),
  nonce: hex(),
  windowMs: 60_000,
  layout,
  owner: "test",
  ...more,
});

/** A request to renew the lease of an answer. */
export const renewalOf = ({ grant, node, untilMs }, more) => ({
  scope: "s",
  grant,
  node,
  untilMs,
  nonce: hex(),
  windowMs: 60_000,
  layout,
  ...more,
});

/** A request to give back the lease of an answer. */
export const releaseOf = ({ grant, node, untilMs }, more) => ({
  scope: "s",
  grant,
  node,
  untilMs: 0,
  heldUntilMs: untilMs,
  ...more,
});

/** Makes a scope that no test has used. Returns its name. */
export async function newScopeOf(store, options) {
  const scope = `s${hex().slice(0, 12)}`;
  await store.init({ scope, layout: "default", ...options });
  return scope;
}

/** How many pairs of windows of one node id overlap. */
export function overlaps(leases) {
  let count = 0;
  for (const [at, one] of leases.entries())
    for (const two of leases.slice(at + 1))
      if (one.node === two.node && one.fromMs < two.untilMs && two.fromMs < one.untilMs) count++;
  return count;
}
