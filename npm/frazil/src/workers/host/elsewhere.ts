/** A host that is not Cloudflare's runtime. Importing works, as for types and tools that look at exports; use does not. */
import { LeaseError } from "../../base/errors.js";

/** @throws {LeaseError} `STORE_REFUSED`: what was used needs Cloudflare's runtime. */
export function requireWorkers(used: string): void {
  throw new LeaseError(
    "STORE_REFUSED",
    `${used} of frazil/workers needs Cloudflare's runtime: run it in a Worker, with wrangler dev, @cloudflare/vite-plugin or ` +
      'miniflare, and let the bundler resolve the export condition "workerd". Elsewhere, use lease() of frazil/lease with a store',
  );
}

/** What an object is given. */
export class DurableObject {
  readonly ctx: unknown;
  readonly env: unknown;
  constructor(ctx: unknown, env: unknown) {
    requireWorkers("FrazilLeases");
    this.ctx = ctx;
    this.env = env;
  }
}

/** Keeps a Worker alive until a promise is settled. */
export function waitUntil(_promise: Promise<unknown>): void {
  requireWorkers("waitUntil");
}
