// What `frazil/native` exports, which addons are loaded before and after the first generator, and whether there is one `frazil`.
const exported = Object.keys(require("frazil/native"));
const { Snowflake } = require("frazil");
const addons = () =>
  Object.keys(require.cache)
    .filter((path) => path.endsWith(".node"))
    .map((path) => require("node:path").basename(path));
const before = addons();
const { backend } = new Snowflake({ node: 7 });
const after = addons();
import("frazil/native")
  .then(() => import("frazil"))
  .then((frazil) => {
    const one = frazil.Snowflake === Snowflake;
    process.stdout.write(JSON.stringify({ exported, before, after, backend, one }));
  });
