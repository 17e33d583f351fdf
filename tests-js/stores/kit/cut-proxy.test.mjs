// The proxy that tests cut lets their process end.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const MAIN = `
  import { once } from "node:events";
  import { connect, createServer } from "node:net";
  import { startProxy } from ${JSON.stringify(new URL("cut-proxy.mjs", import.meta.url).href)};

  const server = createServer((socket) => socket.on("error", () => {}).resume());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxy = await startProxy(server.address().port);
  // What arrives here is read in one turn of the event loop with the end of a connection, right after it.
  const listener = createServer((socket) => socket.on("data", () => proxy.heal({ lose: true })));
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const signal = connect(listener.address().port, "127.0.0.1");
  await once(signal, "connect");
  for (let round = 0; round < 20; round++) {
    const client = connect(proxy.port, "127.0.0.1").on("error", () => {}).resume();
    const closed = new Promise((resolve) => client.once("close", resolve));
    await once(client, "connect");
    await new Promise((resolve) => setTimeout(resolve, 10));
    client.end(() => signal.write("x"));
    await closed;
  }
  signal.destroy();
  listener.close();
  proxy.close();
  server.close();
`;

test("a process ends although its connections were reset while they ended", async () => {
  // It has less than a second of work.
  const args = ["--input-type=module", "-e", MAIN];
  await promisify(execFile)(process.execPath, args, { timeout: 20_000, killSignal: "SIGKILL" }).catch((error) =>
    assert.fail(error.killed ? "the process does not end" : error.stderr),
  );
});
