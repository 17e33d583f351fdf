import frazil = require("frazil");
import decoder = require("frazil/decode");
import alone = require("frazil/layout");
import forms = require("frazil/text");

const ids = new frazil.Snowflake({ layout: "twitter", node: { datacenter: 3, worker: 17 } });
const id: bigint = ids.next();
const many: BigUint64Array = ids.fill(new BigUint64Array(3));
const stats: frazil.Stats = ids.stats();
const datacenter: number | undefined = ids.decode(id).parts?.datacenter;
const layout: frazil.Layout<"datacenter" | "worker"> = alone.Layout.named("twitter");
const date: Date = decoder.decode(forms.base62.decode("0Czks0tP37X"), "discord").date;

// @ts-expect-error: there is no default node id
() => new frazil.Snowflake({});
// @ts-expect-error: an ID is no number
const wrong: number = ids.next();

const known: boolean = frazil.FrazilError.is(new Error("no"));
console.log(id > 0n, many.length, stats.issued, datacenter, date.toISOString(), known, typeof wrong, layout === ids.layout);
