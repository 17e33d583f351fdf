// The Worker: node ids from a Durable Object, links in D1.
import { leased } from "frazil/workers";
import { clientOf } from "../app/client.mjs";
import { linksIn } from "../app/links.mjs";
import page from "../app/page.html";
import { handle } from "../app/shortener.mjs";

export { FrazilLeases } from "frazil/workers";

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
      links: linksIn(run),
      ids: async () => leased(env.FRAZIL, ctx),
      later: (promise) => ctx.waitUntil(promise),
      client: await clientOf(request.headers.get("cf-connecting-ip")),
    });
  },
};
