/** Cloudflare's runtime. */
export { DurableObject, waitUntil } from "cloudflare:workers";

export const requireWorkers = (_used: string): void => {};
