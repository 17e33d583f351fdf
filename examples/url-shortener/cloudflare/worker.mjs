// The Worker: node ids from a Durable Object, links in D1.
import { leased } from "frazil/workers";
import { clientOf } from "../app/clients.mjs";
import { linksIn } from "../app/links.mjs";
import page from "../app/page.html";
import { handle } from "../app/shortener.mjs";

export { FrazilLeases } from "frazil/workers";

/** The Unix time of SQLite in milliseconds. `unixepoch('subsec')` is a number of seconds with a fraction. */
const NOW_MS = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)";

export default {
  async fetch(request, env, ctx) {
    const run = async (sql, values) =>
      (
        await env.LINKS.prepare(sql)
          .bind(...values)
          .all()
      ).results;
    return handle(request, {
      page,
      // The Worker is reachable only by the names of its routes.
      origin: () => new URL(request.url).origin,
      links: linksIn(run, { nowMs: NOW_MS }),
      ids: async () => leased(env.FRAZIL, ctx),
      later: (promise) => ctx.waitUntil(promise),
      // Cloudflare sets it, whatever the client sent.
      client: clientOf(request.headers.get("cf-connecting-ip") ?? ""),
    });
  },
};
