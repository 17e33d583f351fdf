// The sources of `npm/frazil/src/likely`, which no entry of the package exports: the command line and the decoder of the site have them.
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const source = (name) => fileURLToPath(new URL(`../../npm/frazil/src/likely/${name}.ts`, import.meta.url));

/** What a file of that folder exports. */
export function likely(name) {
  const { outputFiles } = buildSync({ entryPoints: [source(name)], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
