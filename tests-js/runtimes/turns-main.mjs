// Deno and Bun: how old the time of an ID is with `freshness: "turn"`, by where the program is since the block was reserved. Prints the
// milliseconds as JSON.
const { Snowflake } = await import(process.argv[2]);

let ms = 1_790_000_000_000;
const ids = new Snowflake({ node: 7, freshness: "turn", now: () => ms });
const ageMs = () => ms - ids.decode(ids.next()).timestampMs;
/** Reserves a block that has a rest, after which the clock moves. */
function reserve() {
  for (let count = 0; count < 600; count++) ids.next();
  ms += 50;
}

reserve();
const inTurn = ageMs();
await null;
const afterAwait = ageMs();
reserve();
await new Promise((resolve) => setTimeout(resolve));
const afterTimer = ageMs();

function answer() {
  const age = ageMs();
  reserve();
  return new Response(`${age}`);
}
const { Bun, Deno } = globalThis;
const server = Bun
  ? Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer })
  : Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
const inRequests = [];
for (let count = 0; count < 5; count++) {
  const response = await fetch(`http://127.0.0.1:${server.port ?? server.addr.port}`);
  inRequests.push(Number(await response.text()));
}
console.log(JSON.stringify({ inTurn, afterAwait, afterTimer, inRequests }));
process.exit();
