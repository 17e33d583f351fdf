const { Snowflake } = require("frazil");

process.removeAllListeners("warning");
new Snowflake({ node: 7 });
try {
  require("frazil/native");
} catch (error) {
  process.stdout.write(error.message);
}
