import { Layout } from "frazil";

export default {
  fetch: () => new Response(Layout.named("twitter").decode("1541815603606036480").date.toISOString()),
};
