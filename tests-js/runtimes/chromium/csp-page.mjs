// A page whose Content Security Policy may forbid WebAssembly: reports what works, and which calls are refused and how.
import { FrazilError, Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { Layout as LayoutAlone } from "frazil/layout";
import { base62 } from "frazil/text";
import { checkMinting } from "../checks.mjs";
import { resultOf } from "../json-result.mjs";

/** Whether the page may compile functions from text; if so, no policy is in force. */
function evaluates() {
  try {
    return new Function("return true")();
  } catch {
    return false;
  }
}

async function refusal(call) {
  try {
    return { returned: String(await call()) };
  } catch (error) {
    const { code, cause, message, hint } = error;
    return { ours: FrazilError.is(error), code, cause: cause?.constructor.name, says: message, advice: hint };
  }
}

globalThis.answer = resultOf(async () => {
  const ids = new Snowflake({ node: 4 });
  const refused = [];
  // The first call waits: if minting is allowed, no ID is issued within the lead after the start of the page.
  for (const call of [
    ids.nextAsync,
    ids.next,
    ids.nextString,
    () => ids.nextMany(1),
    () => ids.fill(new BigUint64Array(1)),
  ]) {
    refused.push(await refusal(call));
  }
  return {
    evaluates: evaluates(),
    decoded: decode("175928847299117063", "discord").date.toISOString(),
    text: base62.encode("175928847299117063"),
    layout: Layout.named("twitter").decode("1541815603606036480").date.toISOString(),
    layoutAlone: new LayoutAlone(Layout.named("twitter").toJSON()).decode("1541815603606036480").date.toISOString(),
    layoutOfIds: ids.decode(ids.layout.minIdAt(1_780_000_000_000)).timestampMs,
    refused,
    minting: (await resultOf(() => checkMinting(5))).result,
  };
});
