// `frazil/native` after the first generator.
const { Snowflake } = require("frazil");

const { backend } = new Snowflake({ node: 7 });
let refused;
try {
  require("frazil/native");
} catch (error) {
  refused = error.code;
}
process.stdout.write(JSON.stringify({ backend, refused }));
