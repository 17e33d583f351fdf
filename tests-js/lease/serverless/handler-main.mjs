// What runs a Lambda function here: it imports a module, and calls its handler for each line on its input.
import { createInterface } from "node:readline";

const { handler } = await import(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const reply = await handler(JSON.parse(line)).catch((error) => ({ error: error.stack }));
  process.stdout.write(`${JSON.stringify({ ...reply, resources: process.getActiveResourcesInfo() })}\n`);
}
