import { Snowflake } from "frazil";
import { leased } from "frazil/workers";

export { FrazilLeases } from "frazil/workers";

export default {
  async fetch(_request, env, ctx) {
    const ids = await leased(env.FRAZIL, ctx);
    const many = Array.from({ length: 1000 }, () => ids.nextString());
    // The object has granted this node id, and `frazil` is in the bundle once.
    const oneCopy = ids instanceof Snowflake;
    return Response.json({ many, node: ids.node, backend: ids.backend, oneCopy });
  },
} satisfies ExportedHandler<Env>;
