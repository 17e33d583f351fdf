// Mints with a static node id in the main thread, and then in each kind of worker thread that Deno and Bun have:
//
//   deno run threads-main.mjs ENTRY
//
// ENTRY is the URL of the package's file. It writes as JSON what the generators of each thread did.
import { Worker as NodeWorker } from "node:worker_threads";
import { mint } from "./threads-mint.mjs";

const [entry] = globalThis.Deno?.args ?? process.argv.slice(2);
const program = new URL("threads-worker.mjs", import.meta.url);
const answers = { main: await mint(entry) };

const web = new Worker(program.href, { type: "module" });
web.postMessage(entry);
answers.web = await new Promise((resolve, reject) => {
  web.onmessage = ({ data }) => resolve(data);
  web.onerror = reject;
});
web.terminate();

const node = new NodeWorker(program, { workerData: { entry } });
answers.node = await new Promise((resolve, reject) => node.once("message", resolve).once("error", reject));
await node.terminate();
console.log(JSON.stringify(answers));
