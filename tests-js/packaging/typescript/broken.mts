import { Snowflake } from "frazil";

export const ids = new Snowflake({ nodes: 7 });
export const id: number = new Snowflake({ node: 7 }).next();
