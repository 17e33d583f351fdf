/** What Cloudflare's runtime has: imported once, since bundlers keep each import of another module. */
export { DurableObject, waitUntil } from "cloudflare:workers";
