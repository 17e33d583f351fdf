// Starts headless Chromium and opens test pages, which are served on loopback.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";
import { tools } from "../../../scripts/tools.mjs";

/** No sandbox, because CI runs as root, and none of the connections that a browser makes on its own. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = () => chromium.launch({ executablePath: tools.chromium, args: FLAGS });

const TYPES = { mjs: "text/javascript", wasm: "application/wasm" };

/**
 * Starts a browser for the scripts of a folder. `open` opens a page that runs one of them, with extra response headers, and
 * returns what the script left in `globalThis.answer` and the errors of the page.
 */
export async function startBrowser(folder) {
  let headers = {};
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
    const type = TYPES[pathname.split(".").at(-1)];
    response.setHeader("content-type", type ?? "text/html");
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const html = `<!doctype html><link rel="icon" href="data:,"><pre id="output"></pre>`;
    const script = `<script type="module" src="/${searchParams.get("script")}.mjs"></script>`;
    response.end(type === undefined ? `${html}${script}` : readFileSync(`${folder}${pathname}`));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launch();
  return {
    version: browser.version(),
    async open(script, ownHeaders = {}) {
      headers = ownHeaders;
      const page = await browser.newPage();
      const pageErrors = [];
      page.on("pageerror", ({ message }) => pageErrors.push(message));
      page.on("console", (message) => message.type() === "error" && pageErrors.push(message.text()));
      await page.goto(`http://127.0.0.1:${server.address().port}/?script=${script}`);
      const answer = await page.evaluate(() => globalThis.answer);
      await page.close();
      return { answer, pageErrors };
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}
