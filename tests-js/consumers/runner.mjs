// The parts of the consumers: a fresh project outside the workspace, the packed packages from a loopback registry, the tools of the
// consumer from npm, and the checks.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tools } from "../../scripts/tools.mjs";
import { startDevServer } from "../packaging/dev-server.mjs";
import { inherited, root } from "../packaging/tarballs.mjs";
import { freePort } from "../stores/kit/server-process.mjs";

/** The version of frazil in this checkout, which is all that the registry has. */
export const { version: VERSION } = JSON.parse(readFileSync(join(root, "npm/frazil/package.json"), "utf8"));

/** How long a command of a consumer may take. */
const LIMIT_MS = 400_000;

/** The beginning and the end of what a tool printed. */
const excerpt = (output) => (output.length < 8000 ? output : `${output.slice(0, 4000)}\n[…]\n${output.slice(-4000)}`);

/** Lines that follow a warning of Node. */
const CONTINUES_WARNING = /^\(Use `.* --trace-warnings|^WebAssembly shares no state between worker threads/;

/** The module that every consumer imports: it mints, and reports as one line of text that survives HTML. */
export const MINT = `import { Snowflake } from "frazil";
export function mint(extra = {}) {
  const ids = new Snowflake({ node: 7 });
  const issued = [ids.next(), ...ids.nextMany(1000)];
  return "FRAZIL" + JSON.stringify({
    backend: ids.backend,
    node: ids.decode(issued[0]).node,
    increasing: issued.every((id, at) => at === 0 || issued[at - 1] < id),
    lateMs: Date.now() - ids.layout.timestampOf(issued[0]),
    ...extra,
  }) + "END";
}
`;

/** The reports in a text. */
const reportsIn = (text) =>
  Array.from(text.replaceAll("&quot;", '"').matchAll(/FRAZIL(\{[^{}]*\})END/g), ([, json]) => JSON.parse(json));

/** Starts the registry. Resolves to its origin and how to end it. */
export async function startRegistry() {
  const program = fileURLToPath(new URL("registry.mjs", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [origin] = await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(([status]) => assert.fail(`the registry ended with ${status}`)),
  ]);
  return { origin: origin.toString().trim(), stop: () => child.stdin.end() };
}

/** A project of a consumer, and what its steps can do in it. */
class Project {
  constructor(name, { origin, under = process.execPath, env = {} }) {
    this.folder = mkdtempSync(join(tmpdir(), `frazil-consumer-${name}-`));
    this.node = under;
    this.outputs = [];
    this.env = {
      ...inherited,
      // Where a network has its own certificates.
      ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
      PATH: `${dirname(under)}:${process.env.PATH}`,
      // Nothing of the caches, stores and settings of the user: they may have another frazil of this version.
      HOME: join(this.folder, ".home"),
      npm_config_cache: join(root, ".cache/consumers-npm"),
      npm_config_registry: origin,
      npm_config_update_notifier: "false",
      YARN_NPM_REGISTRY_SERVER: origin,
      YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
      YARN_ENABLE_TELEMETRY: "0",
      YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
      YARN_GLOBAL_FOLDER: join(this.folder, ".yarn-global"),
      BUN_CONFIG_REGISTRY: origin,
      BUN_INSTALL_CACHE_DIR: join(this.folder, ".bun-cache"),
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
      NEXT_TELEMETRY_DISABLED: "1",
      NUXT_TELEMETRY_DISABLED: "1",
      ASTRO_TELEMETRY_DISABLED: "1",
      CI: "1",
      ...env,
    };
    mkdirSync(this.env.HOME);
  }

  path = (...parts) => join(this.folder, ...parts);
  read = (file) => readFileSync(this.path(file), "utf8");

  write(files) {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(file)), { recursive: true });
      writeFileSync(this.path(file), text);
    }
  }

  /** Runs a program, and resolves to what it printed. */
  async run(program, args, { cwd = this.folder, env = {}, status = 0, limitMs = LIMIT_MS } = {}) {
    const options = { cwd, env: { ...this.env, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true };
    const child = spawn(program, args, options);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), limitMs);
    const [code, signal] = await once(child, "close");
    clearTimeout(timer);
    const command = [basename(program), ...args].join(" ");
    assert.equal(code, status, `${command}: ${signal ?? `exit code ${code}`}\n${excerpt(output)}`);
    this.outputs.push({ command, output });
    return output;
  }

  /** Runs a file or flags in the Node of the consumer. */
  inNode = (args, options) => this.run(this.node, args, options);
  /** Runs a program that a package of the consumer has. */
  bin = (name, args, options) => this.inNode([this.path("node_modules", ...name.split(" ")), ...args], options);

  async npm(args, options) {
    const output = await this.run("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], options);
    return output;
  }

  /** Starts a server and resolves to the texts of its paths. */
  async serve(args, paths, { cwd = this.folder, env = {} } = {}) {
    const port = await freePort();
    const options = {
      port,
      cwd,
      env: { ...this.env, ...env, PORT: `${port}`, NITRO_PORT: `${port}`, HOST: "127.0.0.1" },
    };
    const { origin, stop, log } = await startDevServer(this.node, args(`${port}`), options);
    try {
      const texts = [];
      for (const path of paths) {
        if (path.startsWith("page:")) texts.push(await inChromium(`${origin}${path.slice(5)}`));
        else {
          const response = await fetch(`${origin}${path}`);
          const text = await response.text();
          assert.equal(response.status, 200, `${path}: ${text.slice(0, 2000)}\n${log()}`);
          texts.push(text);
        }
      }
      return texts;
    } finally {
      await stop();
      this.outputs.push({ command: `node ${args("PORT").join(" ")}`, output: log() });
    }
  }

  /** Opens a page of a folder in Chromium, and resolves to its text. */
  async page(folder, path = "/index.html") {
    const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css" };
    const server = createServer((request, response) => {
      try {
        response.setHeader("content-type", types[extname(request.url)] ?? "application/octet-stream");
        response.end(readFileSync(join(this.folder, folder, request.url)));
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      return await inChromium(`http://127.0.0.1:${server.address().port}${path}`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Waits until a page shows a report, and resolves to the text of its body. */
async function inChromium(url) {
  const { chromium } = await import("playwright-core");
  const args = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking";
  const browser = await chromium.launch({
    executablePath: tools.chromium,
    args: [...args.split(" "), "--disable-component-update", "--disable-sync"],
  });
  try {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(url);
    await page
      .waitForFunction("/FRAZIL.*END/.test(document.body.innerText)", undefined, { timeout: 30_000 })
      .catch((error) => assert.fail(`${error.message}\n${errors.join("\n")}`));
    assert.deepEqual(errors, []);
    return await page.evaluate("document.body.innerText");
  } finally {
    await browser.close();
  }
}

/** A report of `mint` is that of a correct generator on the expected backend. */
function checkReport(place, text, backend) {
  const found = reportsIn(text);
  assert.equal(found.length, 1, `${place}: one report is expected, not ${found.length}, in:\n${text.slice(0, 3000)}`);
  const { lateMs, ...report } = found[0];
  const oneClass = "oneClass" in report ? { oneClass: true } : {};
  assert.deepEqual(report, { backend, node: 7, increasing: true, ...oneClass }, place);
  // A page that was rendered when it was built is older.
  assert.ok(lateMs > -1000 && lateMs < 10_000, `${place}: the clock is ${lateMs} ms off`);
}

/**
 * Runs a consumer in a fresh project. Rejects if a backend is not the expected one, if IDs are wrong, or if a tool printed a
 * warning that `allowed` does not have.
 */
export async function runConsumer(consumer, origin) {
  const { name, packages = {}, files = {}, manifest = {}, install, steps, expect, allowed = [], under, env } = consumer;
  const project = new Project(name, { origin, under: under && (tools[under] ?? under), env });
  try {
    const dependencies = { ...packages, frazil: VERSION };
    const base = { name: `consumer-${name}`, version: "0.0.0", private: true, type: "module" };
    project.write({
      "package.json": JSON.stringify({ ...base, dependencies, ...manifest }, undefined, 2),
      "mint.mjs": MINT,
      ...files,
    });
    if (install) await install(project);
    else await project.npm(["install", "--ignore-scripts"]);
    project.outputs.length = 0;
    const texts = await steps(project);
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(expect).sort());
    for (const [place, backend] of Object.entries(expect)) checkReport(place, texts[place], backend);
    for (const { command, output } of project.outputs) {
      const lines = output.split("\n").filter((line) => /\bwarn(ing)?\b/i.test(line) && !CONTINUES_WARNING.test(line));
      const unexpected = lines.filter((line) => !allowed.some((pattern) => pattern.test(line)));
      assert.deepEqual(unexpected, [], `${command} printed a warning:\n${output.slice(-6000)}`);
    }
  } finally {
    if (!process.env.FRAZIL_CONSUMERS_KEEP) project.remove();
    else process.stdout.write(`  kept: ${project.folder}\n`);
  }
}
