import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import * as layoutOnly from "frazil/layout";

export default {
  fetch() {
    // In a request a Worker may not compile WebAssembly, so the module must be loaded before.
    const ids = new Snowflake({ node: 7 });
    const id = ids.next();
    const { node, timestampMs } = decode(id, "default");
    const oneLayout = ids.layout instanceof Layout && layoutOnly.Layout === Layout;
    return Response.json({ backend: ids.backend, id: String(id), node, oneLayout, lateMs: Date.now() - timestampMs });
  },
};
