// Loaded into the process of each file of tests: ends it at twice the limit of one test. Node 24, unlike Node 20, leaves that to the tests,
// and waits for ever for what one of them has left open.
import { isMainThread } from "node:worker_threads";

const limitMs = Number(/^--test-timeout=(\d+)$/m.exec(process.execArgv.join("\n"))?.[1]);
if (process.env.NODE_TEST_CONTEXT && isMainThread && limitMs > 0)
  setTimeout(() => {
    process.stderr.write(`the file did not end within ${(2 * limitMs) / 1000} s\n`);
    process.exit(1);
  }, 2 * limitMs).unref();
