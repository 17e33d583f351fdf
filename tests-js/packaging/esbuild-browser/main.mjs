import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";

const ids = new Snowflake({ node: 7 });
const issued = [ids.next(), ...ids.nextMany(1000)];
globalThis.result = {
  backend: ids.backend,
  increasing: issued.every((id, at) => at === 0 || issued[at - 1] < id),
  node: decode(issued[0], "default").node,
  lateMs: Date.now() - ids.layout.timestampOf(issued[0]),
  date: Layout.named("discord").decode("175928847299117063").date.toISOString(),
};
