/**
 * `frazil/workers` and `frazil/workers/segment` outside Cloudflare's runtime: importing works, as for types and tools that look at
 * exports, and use is refused. Exports that need no such runtime come from the other entries.
 */
import { LeaseError } from "frazil";
import type * as workers from "./index.js";

export { LeasedSnowflake } from "../lease/index.js";
export { DurableObjectStore, LOCATION_HINTS, locationHintOf } from "../stores/durable-object/index.js";

function refuse(used: string, elsewhere = "lease(store) of frazil/lease"): never {
  throw new LeaseError(
    "STORE_REFUSED",
    `${used} needs Cloudflare's runtime\nRun it in a Worker, with wrangler dev, @cloudflare/vite-plugin or ` +
      `miniflare, and let the bundler resolve the export condition "workerd". Elsewhere, use ${elsewhere}.`,
  );
}

export const durable: typeof workers.durable = () => refuse("durable()");
export const leased: typeof workers.leased = () => refuse("leased()");
export const segmented: typeof workers.segmented = () =>
  refuse("segmented()", "new Segment(store, { tag }) of frazil/segment");

export class FrazilLeases {
  constructor() {
    refuse("FrazilLeases");
  }
}
