// By both module systems: one class, and so one core.
require("frazil/native");
const { Snowflake } = require("frazil");
import("frazil/native")
  .then(() => import("frazil"))
  .then((module) => process.stdout.write(`${new Snowflake({ node: 7 }).backend} ${module.Snowflake === Snowflake}`));
