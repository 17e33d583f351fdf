import { segmented } from "frazil/workers/segment";

export { FrazilLeases } from "frazil/workers/segment";

export default {
  async fetch(_request, env, ctx) {
    const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
    return Response.json({ order: await orders.nextString() });
  },
} satisfies ExportedHandler<Env>;
