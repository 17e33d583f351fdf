// The types as seen from a CommonJS module in Node.
import frazil = require("frazil");
import decoder = require("frazil/decode");
import alone = require("frazil/layout");
import text = require("frazil/text");
import transport = require("frazil/transport");

const { Layout, Snowflake, FrazilError } = frazil;
const ids: frazil.Snowflake<"twitter"> = new Snowflake({ layout: "twitter", node: { datacenter: 3, worker: 17 } });
const id: bigint = ids.next();
const parts: { readonly datacenter: number; readonly worker: number } | undefined = ids.decode(id).parts;
const decoded: frazil.Decoded<"datacenter" | "worker"> = Layout.named("twitter").decode(id);
const same: typeof alone.Layout = Layout;
const machine: number | undefined = decoder.decode(id, "sonyflake").parts?.machine;
const link: string = text.base62.short.encode(id);
const bound: string = transport.toSql(id);
const code: frazil.ErrorCode = new FrazilError("CLOSED", "x").code;
// @ts-expect-error: a part that the layout does not have
decoded.parts?.machine;
// @ts-expect-error: an ID is no text
const wrong: string = ids.next();
exports.all = [parts, same, machine, link, bound, code, wrong];
