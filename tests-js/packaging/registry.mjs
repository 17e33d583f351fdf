// A registry of npm packages on the loopback interface, for one test: it stores what `npm publish` sends, and serves it.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Starts a registry. `published` has the names and versions in the order of their publication; `refuse` is a function that decides, from
 * the name of a package, whether its publication fails; `lateBy` one that says how many times it is still denied once it is published.
 */
export async function startRegistry(t) {
  const packages = new Map();
  const tarballs = new Map();
  const registry = { published: [], requests: [], tags: [], refuse: () => false, lateBy: () => 0 };
  const asked = new Map();
  /** Puts a tarball in place, as npm does: the hash is of what was sent, and not what the client says. */
  const store = (known, version, file, bytes, manifest) => {
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    tarballs.set(`${known.name}/-/${file}`, bytes);
    known.versions[version] = { ...manifest, dist: { integrity, tarball: `${registry.url}${known.name}/-/${file}` } };
  };
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname.slice(1));
    registry.requests.push(`${request.method} ${name}`);
    const answer = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method === "GET" && tarballs.has(name)) {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.end(tarballs.get(name));
    } else if (request.method === "GET" && packages.has(name)) {
      const times = (asked.get(name) ?? 0) + 1;
      asked.set(name, times);
      if (times > registry.lateBy(name)) answer(200, packages.get(name));
      else answer(404, { error: "not found" });
    } else if (request.method !== "PUT") answer(404, { error: "not found" });
    else {
      const body = JSON.parse(await text(request));
      if (registry.refuse(name)) return answer(503, { error: "the test refuses this publication" });
      const known = packages.get(name) ?? { name, "dist-tags": {}, versions: {} };
      for (const [version, manifest] of Object.entries(body.versions)) {
        if (known.versions[version]) return answer(409, { error: `${name} ${version} is published` });
        const [[file, { data }]] = Object.entries(body._attachments);
        store(known, version, file, Buffer.from(data, "base64"), manifest);
        registry.published.push(`${name}@${version}`);
      }
      registry.tags.push(...Object.keys(body["dist-tags"]));
      Object.assign(known["dist-tags"], body["dist-tags"]);
      packages.set(name, known);
      answer(201, { ok: true });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  registry.url = `http://127.0.0.1:${server.address().port}/`;
  /** The tarball that was published. */
  registry.tarball = (name, version) => tarballs.get(`${name}/-/${name}-${version}.tgz`);
  /** Adds a version that another user has published. */
  registry.add = (name, version, bytes) => {
    const known = { name, "dist-tags": { latest: version }, versions: {} };
    store(known, version, `${name}-${version}.tgz`, bytes, { name, version });
    packages.set(name, known);
  };
  return registry;
}
