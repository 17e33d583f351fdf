// Loads TypeScript sources that no entry of the package exports, above all the tables.
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/** What a source exports. */
export async function load(name, room = "generated") {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(`../../npm/frazil/src/${room}/${name}.ts`, import.meta.url))],
    bundle: true,
    format: "esm",
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const { Slot, Frame, ...frame } = await load("abi");
/** The slots of the frame, the statuses, and the other constants of the frame. */
export const slot = { ...frame, ...Frame, ...Slot };
/** The codes of each error class. */
export const errors = await load("errors");
/** The calls of segments, and what they request. */
export const segment = await load("segment");
/** The sentence of each rule: those of the core, and those of the package. */
export const rules = { ...(await load("rules")).Rule, ...(await load("package-rules", "base")).PackageRule };
