// Node 24 takes a .wasm file for an ES module: it looks for the files that the module imports, and the exports are those of an
// instance. So do Vite 8, webpack with `asyncWebAssembly`, and unwasm, which Nitro and Nuxt use.
import { Snowflake } from "frazil";
import * as core from "frazil/frazil.wasm";

const ids = new Snowflake({ node: 7, unshared: true }); // else the console has a warning
const minted = ids.nextMany(3);
process.stdout.write(
  JSON.stringify({
    exports: Object.keys(core).sort(),
    backend: ids.backend,
    nodes: [...minted].map((id) => ids.decode(id).node),
    increasing: minted[0] < minted[1] && minted[1] < minted[2],
  }),
);
