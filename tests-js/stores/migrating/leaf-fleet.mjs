// Fleets of Meituan Leaf on a real ZooKeeper, which ends with the file of tests, with data in Leaf's format. The Java servers are
// played by old-leaf.mjs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { LeafStore } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { call, closeClient, connectClient, startServer } from "../zookeeper/server.mjs";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
export const folder = mkdtempSync(join(tmpdir(), "frazil-leaf-"));
export const LEAF = "1288834974657 1ms time41 node10 sequence12";
export let server;
export let administrator;
let fleets = 0;
const children = new Set();

before(async () => {
  server = await startServer();
  administrator = await connectClient(server.port);
});

/** The client of before may wait without end for the server, which does not answer all that connect while it starts. */
export async function connectAnew() {
  closeClient(administrator);
  administrator = await connectClient(server.port);
}

after(async () => {
  for (const child of children) child.kill("SIGKILL");
  closeClient(administrator);
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** A server of either generation. `started` resolves to what it reported first about its number. */
export function play(program, options) {
  const child = spawn(process.execPath, [file(program), JSON.stringify({ port: server.port, ...options })], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: tmpdir(),
  });
  children.add(child);
  const events = [];
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const ended = new Promise((resolve) => child.once("close", resolve)).then((status) => {
    children.delete(child);
    return { status, errors };
  });
  const started = new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop();
      events.push(...lines.map((line) => JSON.parse(line)));
      const ready = events.find(({ workerId }) => workerId !== undefined);
      if (ready) resolve(ready);
    });
    ended.then(() => reject(new Error(`${program} ended before it minted: ${errors}${JSON.stringify(events)}`)));
  });
  started.catch(() => {});
  const end = async (signal) => {
    child.kill(signal);
    child.kill("SIGCONT");
    return ended;
  };
  return { child, events, started, ended, end };
}

/** A fleet of its own: servers of both generations whose IDs go to one folder. */
export function newFleet({ isPlain = false } = {}) {
  const number = ++fleets;
  const leafName = `com.example.fleet${number}`;
  const scope = `fleet-${number}`;
  const outs = [];
  const out = (name) => {
    const path = join(folder, `${number}-${name}-${outs.length}`);
    outs.push(path);
    return path;
  };
  return {
    leafName,
    scope,
    forever: `/snowflake/${leafName}/forever`,
    java: (name) => {
      const options = { leafName, ip: "10.0.0.1", leafPort: String(8000 + name), folder: join(folder, `tmp${number}`) };
      return play("old-leaf.mjs", { ...options, out: out(`java${name}`) });
    },
    frazil: (name) => play("frazil-beside-leaf.mjs", { leafName, scope, isPlain, out: out(`frazil${name}`) }),
    store: () => new LeafStore(administrator, { leafName }),
    /** All IDs of the fleet: how many, and how many more than once. */
    count() {
      const arrays = outs.filter(existsSync).map((path) => {
        const bytes = readFileSync(path);
        return new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~7)));
      });
      const all = new BigUint64Array(arrays.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const array of arrays) {
        all.set(array, at);
        at += array.length;
      }
      all.sort();
      let repeats = 0;
      for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) repeats++;
      return { ids: all.length, repeats };
    },
  };
}

/** Leaf's folder with a znode of a Java server for each given time of its last upload. */
export async function folderOf(fleet, ...times) {
  const path = ["", "snowflake", fleet.leafName, "forever"];
  for (let length = 2; length <= path.length; length++)
    await call(administrator, "create", path.slice(0, length).join("/")).catch((error) =>
      assert.equal(error.name, "NODE_EXISTS"),
    );
  const names = [];
  for (const [at, timestamp] of times.entries()) {
    const data = Buffer.from(JSON.stringify({ ip: "10.0.0.1", port: String(8000 + at), timestamp }));
    const mode = zookeeper.CreateMode.PERSISTENT_SEQUENTIAL;
    const [name] = await call(administrator, "create", `${fleet.forever}/10.0.0.1:${8000 + at}-`, data, mode);
    names.push(name);
  }
  return names;
}

/** A client whose writes answer with a later time, as those of a leader do later on. */
export const laterBy = (client, ms) =>
  new Proxy(client, {
    get(target, name) {
      if (name !== "setData") return typeof target[name] === "function" ? target[name].bind(target) : target[name];
      return (path, data, version, callback) =>
        target.setData(path, data, version, (error, stat) => {
          if (stat) stat.mtime.writeBigInt64BE(stat.mtime.readBigInt64BE() + BigInt(ms));
          callback(error, stat);
        });
    },
  });
