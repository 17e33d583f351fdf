// An instance of a function that is stopped between two invocations, with a store of docs/guides/serverless.md as it is printed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startProxy } from "./cut-proxy.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const page = readFileSync(path("../../../docs/guides/serverless.md"), "utf8");
const WINDOW_MS = 3000;

const MAIN = `
import { createInterface } from "node:readline";
import { lease } from "frazil/lease";

const ids = await lease(store, { scope: process.argv[2], windowMs: ${WINDOW_MS}, renew: "calls" });
let refused = 0;
ids.on("refused", () => refused++);
console.log("{}");
for await (const _ of createInterface({ input: process.stdin })) {
  await ids.ready();
  console.log(JSON.stringify({ id: ids.nextString(), refused }));
}
await ids.close();
process.exit();
`;

/**
 * Invokes an instance, stops it for longer than a window while its connections are dropped (without notice) or reset, and invokes it again.
 * `client`: a text of the block that makes the store. `env`: the variables for a port. Returns how many attempts of the lease failed.
 */
export async function stopBetweenInvocations({ client, port, env, scope, code }) {
  const block =
    code ?? [...page.matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text).find((text) => text.includes(client));
  const file = path(`of-the-page-serverless-${process.pid}-${scope}.mjs`);
  writeFileSync(file, block + MAIN);
  const proxy = await startProxy(port);
  const child = spawn(process.execPath, [file, scope], {
    env: { ...process.env, ...env(proxy.port) },
    stdio: "pipe",
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const answer = async () => {
      const { done, value } = await lines.next();
      assert.ok(!done, `the instance has ended: ${errors}`);
      return JSON.parse(value);
    };
    const invoke = () => {
      child.stdin.write("\n");
      return answer();
    };
    await answer();
    const seen = new Set();
    let last;
    for (const kill of [() => proxy.drop(), () => proxy.heal({ lose: true })]) {
      seen.add((await invoke()).id);
      child.kill("SIGSTOP");
      kill();
      await sleep(1.5 * WINDOW_MS);
      child.kill("SIGCONT");
      last = await invoke();
      seen.add(last.id);
    }
    assert.equal(seen.size, 4, "an ID repeats");
    child.stdin.end();
    const [status] = await once(child, "exit");
    assert.equal(status, 0);
    return last.refused;
  } finally {
    child.kill("SIGKILL");
    proxy.close();
    rmSync(file);
  }
}
