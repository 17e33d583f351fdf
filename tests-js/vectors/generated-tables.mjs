// The generated tables as the tests need them: TypeScript without types is JavaScript, and these files have few.
import { buildSync } from "esbuild";

async function load(name) {
  const { outputFiles } = buildSync({
    entryPoints: [new URL(`../../npm/frazil/src/generated/${name}.ts`, import.meta.url).pathname],
    bundle: true,
    format: "esm",
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const { Slot, Page, ...page } = await load("page");
/** The slots, the statuses and what else is fixed of the page. */
export const slot = { ...page, ...Page, ...Slot };
/** The codes of each class. */
export const errors = await load("errors");
/** The sentences of the rules. */
export const { Rule: rules } = await load("rules");
