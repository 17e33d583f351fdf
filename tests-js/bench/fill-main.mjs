// One of several processes that mint at once: says when it is ready, begins when it is told to, and says how many IDs it made.
import { Snowflake } from "frazil";
import { wide } from "../wide-layout.mjs";

const { dir, ms } = JSON.parse(process.argv[2]);
const ids =
  dir === undefined ? new Snowflake({ layout: wide, node: 1 }) : Snowflake.local({ layout: wide, node: 1, dir });
const array = new BigUint64Array(4096);
ids.fill(array);
process.send("ready");
process.once("message", () => {
  const until = performance.now() + ms;
  let count = 0;
  for (; performance.now() < until; count += array.length) ids.fill(array);
  process.send(count, () => process.exit());
});
