// Threads that run already when each of them makes its first generator. Prints the backend of each.
import { once } from "node:events";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { Snowflake } from "frazil";

if (isMainThread) {
  const threads = Array.from({ length: 4 }, () => new Worker(new URL(import.meta.url)));
  const said = (thread) => once(thread, "message").then(([message]) => message);
  await Promise.all(threads.map(said));
  const backends = [];
  for (const thread of threads) {
    const backend = said(thread);
    thread.postMessage("make");
    backends.push(await backend);
    if (backends.length === 2) backends.push(new Snowflake({ node: 7, unshared: true }).backend);
  }
  await Promise.all(threads.map((thread) => thread.terminate()));
  process.stdout.write(backends.join(" "));
} else {
  // Listens on, or the thread would end, and its note with it.
  parentPort.on("message", () => parentPort.postMessage(new Snowflake({ node: 7, unshared: true }).backend));
  parentPort.postMessage("runs");
}
