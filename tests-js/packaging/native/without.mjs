import { Snowflake } from "frazil";

const ids = new Snowflake({ node: 7 });
process.stdout.write(`${ids.backend} ${ids.decode(ids.next()).node}`);
