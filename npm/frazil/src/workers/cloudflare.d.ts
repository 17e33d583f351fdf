/** What this package uses of the module that only Cloudflare's runtime has. */
declare module "cloudflare:workers" {
  export class DurableObject {
    readonly ctx: unknown;
    readonly env: unknown;
    constructor(ctx: unknown, env: unknown);
  }
  export function waitUntil(promise: Promise<unknown>): void;
}
