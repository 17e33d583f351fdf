import { Snowflake } from "frazil";

const ids = new Snowflake({ node: 7 });
const issued = ids.nextMany(1000);
if (issued.some((id, at) => at > 0 && issued[at - 1] >= id)) throw new Error("out of order");
process.stdout.write(`${ids.backend} ${ids.decode(issued[0]).node}`);
