// Serves the API and the page.
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { NONCE, secureHeaders } from "hono/secure-headers";
import { api } from "./api.mjs";
import { close } from "./database.mjs";
import { ids } from "./ids.mjs";

const { PORT = "8787", HOST = "127.0.0.1" } = process.env;
const html = readFileSync(new URL("page.html", import.meta.url), "utf8");

const app = new Hono();
const own = {
  defaultSrc: ["'none'"],
  connectSrc: ["'self'"],
  imgSrc: ["data:"],
  scriptSrc: [NONCE],
  styleSrc: [NONCE],
};
app.use(secureHeaders({ contentSecurityPolicy: { ...own, baseUri: ["'none'"], frameAncestors: ["'none'"] } }));
app.get("/", (context) => context.html(html.replaceAll("{{nonce}}", context.get("secureHeadersNonce"))));
app.route("/", api);

const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ port }) =>
  console.log(`http://${HOST}:${port}`),
);

/** Each step needs what later ones close. */
const stop = () =>
  server.close(async () => {
    await ids.close(); // its node id is free at once
    await close();
  });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
