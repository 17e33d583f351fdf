// A registry on the loopback interface that has the packages of this repository, and passes every other request on to npm's. It is a
// separate program: `node registry.mjs` prints its origin when it listens.
//
// A package manager thus sees frazil and its platform packages as after a release. A platform package that was not built here is packed
// without its addon: no tool may load it on this machine.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PLATFORMS } from "../../scripts/platforms/index.mjs";
import { root } from "../../scripts/shell.mjs";

const UPSTREAM = "https://registry.npmjs.org";
/** How long an answer of npm about a package is kept, so that the fast half needs no network: 7 days. */
const KEPT_MS = 7 * 86_400_000;
const kept = join(root, ".cache/consumers");
mkdirSync(kept, { recursive: true });

const folder = mkdtempSync(join(tmpdir(), "frazil-registry-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit());

const folders = ["frazil", ...PLATFORMS.map(({ name }) => name)].map((name) => join(root, "npm", name));
const packing = spawnSync("npm", ["pack", "--json", "--pack-destination", folder, ...folders], { encoding: "utf8" });
if (packing.status !== 0) throw new Error(`npm pack failed: ${packing.stderr}`);

const ours = new Map();
JSON.parse(packing.stdout).forEach(({ name, version, filename, integrity, shasum }, at) => {
  const manifest = JSON.parse(readFileSync(join(folders[at], "package.json"), "utf8"));
  ours.set(name, { manifest, version, integrity, shasum, tarball: readFileSync(join(folder, filename)) });
});

/** What a registry tells of a package. */
function packument(name, { manifest, version, integrity, shasum }) {
  const dist = { tarball: `${origin}/${name}/-/${name}-${version}.tgz`, integrity, shasum };
  const versions = { [version]: { ...manifest, _id: `${name}@${version}`, dist } };
  const time = "2026-01-01T00:00:00.000Z";
  return { _id: name, name, "dist-tags": { latest: version }, versions, time: { created: time, [version]: time } };
}

/** The answer of npm about a package, from the folder of kept answers if it is young enough. */
async function fromUpstream(url, accept) {
  const file = join(kept, createHash("sha256").update(`${accept} ${url}`).digest("hex"));
  const young = statSync(file, { throwIfNoEntry: false })?.mtimeMs > Date.now() - KEPT_MS;
  if (young) return readFileSync(file);
  const response = await fetch(`${UPSTREAM}${url}`, { headers: { accept } });
  if (!response.ok)
    throw Object.assign(new Error(`${UPSTREAM}${url}: status ${response.status}`), { status: response.status });
  const body = Buffer.from(await response.arrayBuffer());
  writeFileSync(file, body);
  return body;
}

const server = createServer(async (request, response) => {
  const name = decodeURIComponent(request.url.slice(1).split("/-/")[0]);
  const own = ours.get(name);
  try {
    if (own !== undefined) {
      const body = request.url.endsWith(".tgz") ? own.tarball : JSON.stringify(packument(name, own));
      response.setHeader(
        "content-type",
        request.url.endsWith(".tgz") ? "application/octet-stream" : "application/json",
      );
      response.end(body);
    } else if (request.url.endsWith(".tgz")) {
      // Every package manager follows it, and checks the integrity.
      response.writeHead(302, { location: `${UPSTREAM}${request.url}` }).end();
    } else {
      const accept = /vnd\.npm\.install-v1/.test(request.headers.accept) ? request.headers.accept : "application/json";
      const body = await fromUpstream(request.url, accept);
      response.setHeader("content-type", accept.split(/[;,]/)[0]);
      response.end(body);
    }
  } catch (error) {
    // A package that does not exist, such as a platform's, is for the package manager to judge.
    response.writeHead(error.status ?? 502).end(error.message);
    if (error.status !== 404) process.stderr.write(`${request.method} ${request.url}: ${error.message}\n`);
  }
});
let origin;
server.listen(0, "127.0.0.1", () => {
  origin = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${origin}\n`);
});
// The parent keeps the pipe open while it runs.
process.stdin.on("end", () => process.exit()).resume();
