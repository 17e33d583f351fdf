// A fresh copy of an example, in which the lines of its README run as they are. Its `npm install` asks a registry of this process,
// which has the packed tarballs of frazil, and the drivers and tools that are installed here.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { emptyFolder, pack, root } from "../packaging/tarballs.mjs";

const installed = join(root, "tests-js");
const read = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Starts a registry of npm with what is on this machine. Returns its address. It does not keep this process running. */
async function startRegistry() {
  const packages = new Map();
  const add = (manifest, source) => packages.set(manifest.name, { manifest, source });
  const lock = JSON.parse(readFileSync(join(installed, "node_modules/.package-lock.json"), "utf8"));
  for (const path of Object.keys(lock.packages).filter((path) => path.split("node_modules/").length === 2))
    add(read(join(installed, path)), { folder: join(installed, path) });
  for (const { name, tarball } of pack()) add(read(join(root, "npm", name)), { tarball });

  const server = createServer((request, response) => {
    const [, name, isTarball] = /^\/(.+?)(\/-\/tarball)?$/.exec(decodeURIComponent(request.url)) ?? [];
    const found = packages.get(name);
    if (found === undefined) return response.writeHead(404).end("{}");
    if (!isTarball) {
      const { manifest } = found;
      const dist = { tarball: `http://${request.headers.host}/${name}/-/tarball` };
      const versions = { [manifest.version]: { ...manifest, dist } };
      return response.end(JSON.stringify({ name, versions, "dist-tags": { latest: manifest.version } }));
    }
    const { tarball, folder } = found.source;
    if (tarball) return createReadStream(tarball).pipe(response);
    const tar = spawn("tar", ["--create", "--directory", folder, "--transform", "s,^[.],package,", "."]);
    return tar.stdout.pipe(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

/** The lines that the README of an example has under a heading. */
function linesOf(example, heading) {
  const text = readFileSync(join(root, "examples", example, "README.md"), "utf8").split(`## ${heading}\n`)[1];
  return /```sh\n(.*?)\n```/s.exec(text)[1].split("\n");
}

/** Runs a line in a shell in its own group. Resolves to the address that it prints, or to nothing when it ends. */
async function runLine(line, { folder, env }) {
  const child = spawn("sh", ["-c", line], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const end = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error; // it has ended
    }
  };
  const kill = () => end("SIGKILL");
  process.once("exit", kill);
  ended.then(() => process.off("exit", kill));
  let log = "";
  const origin = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on("line", (text) => {
        log += `${text}\n`;
        const address = /(?:Ready on |^)(http:\/\/\S+)$/.exec(text)?.[1];
        if (address) resolve(address);
      });
  });
  const status = await Promise.race([origin, ended]);
  assert.ok(status === 0 || typeof status === "string", `${line} ended with ${status}: ${log}`);
  return {
    origin: status === 0 ? undefined : status,
    /** Ends the whole group, and waits for its end. */
    async stop(signal = "SIGTERM") {
      end(signal);
      await ended;
    },
  };
}

/**
 * Runs the lines under a heading of an example's README in a fresh copy, in the given Node. Returns the folder; `running`, the programs
 * that go on, each with its `origin` and `stop()`; and `start(line)`. `replace(line)` is what a reader writes in place of an example's
 * value.
 */
export async function runReadme(example, heading, { node, env = {}, replace = (line) => line }) {
  const folder = emptyFolder(example);
  cpSync(join(root, "examples", example), folder, { recursive: true });
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|node_|frazil_|force_color)/i.test(name));
  const variables = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    npm_config_registry: await startRegistry(),
    npm_config_cache: emptyFolder("npm-cache"),
    npm_config_update_notifier: "false",
    npm_config_audit: "false",
    // They download programs that are separate packages here.
    npm_config_ignore_scripts: "true",
    ...env,
  };
  const start = (line) => runLine(line, { folder, env: variables });
  const running = [];
  for (const line of linesOf(example, heading)) {
    const program = await start(replace(line));
    if (program.origin) running.push(program);
  }
  return { folder, running, start };
}
