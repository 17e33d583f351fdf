// Requests to a store in a scope of the layout "default", each an attempt of its own.
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
