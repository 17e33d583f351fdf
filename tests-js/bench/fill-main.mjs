// The program of one of several processes that mint at once: reports that it is ready, begins on a message, and reports how
// many IDs it minted.
import { Snowflake } from "frazil";
import { wideLayout } from "../generator/wide-layout.mjs";

const { dir, ms } = JSON.parse(process.argv[2]);
const ids =
  dir === undefined
    ? new Snowflake({ layout: wideLayout, node: 1 })
    : Snowflake.local({ layout: wideLayout, node: 1, dir });
const array = new BigUint64Array(4096);
ids.fill(array);
process.send("ready");
process.once("message", () => {
  const until = performance.now() + ms;
  let count = 0;
  for (; performance.now() < until; count += array.length) ids.fill(array);
  process.send(count, () => process.exit());
});
