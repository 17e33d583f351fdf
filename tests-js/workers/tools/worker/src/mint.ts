import { Snowflake } from "frazil";

const ids = new Snowflake({ node: 7 });

export default {
  fetch: () => new Response(ids.nextString()),
};
