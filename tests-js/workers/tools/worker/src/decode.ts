import { decode } from "frazil/decode";

export default {
  fetch: () => new Response(decode("1541815603606036480", "twitter").date.toISOString()),
};
