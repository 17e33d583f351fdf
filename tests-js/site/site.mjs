// The built site, as a static host serves it, under the strictest policy that it works with.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../runtimes/chromium/browser.mjs";

export const dist = fileURLToPath(new URL("../../site/dist", import.meta.url));
const POLICY = "default-src 'self'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
};

/** The pages, as paths of the site. */
export const pages = () =>
  readdirSync(dist, { recursive: true })
    .filter((name) => name.endsWith(".html") && name !== "404.html")
    .map((name) => `/${name.replaceAll("\\", "/").replace(/(^|\/)index\.html$/, "$1")}`)
    .sort();

/** The file of a path of the site, or `undefined`. */
export function fileOf(path) {
  const file = join(dist, path.endsWith("/") ? `${path}index.html` : path);
  return existsSync(file) && statSync(file).isFile() ? file : undefined;
}

/** Serves the site, and starts a browser. `open` opens a page, whose `problems` are its errors and what it asked of other origins. */
export async function startSite() {
  const server = createServer((request, response) => {
    const file = fileOf(decodeURIComponent(new URL(request.url, "http://127.0.0.1").pathname));
    response.setHeader("content-security-policy", POLICY);
    response.statusCode = file === undefined ? 404 : 200;
    response.setHeader("content-type", TYPES[extname(file ?? ".txt")] ?? "application/octet-stream");
    response.end(file && readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await launch();
  return {
    origin,
    /** `nowMs`: what the clock of the page shows. */
    async open(path, { nowMs, ...options } = {}) {
      const context = await browser.newContext({ locale: "en-GB", timezoneId: "Europe/Berlin", ...options });
      if (nowMs !== undefined) await context.clock.setFixedTime(nowMs);
      const page = await context.newPage();
      const problems = [];
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) problems.push(message.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(`${origin}/`)) problems.push(`request of ${request.url()}`);
      });
      await page.goto(`${origin}${path}`, { waitUntil: "networkidle" });
      return { page, problems, close: () => context.close() };
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}
