// `import("frazil/native")` after the first generator.
import { Snowflake } from "frazil";

const { backend } = new Snowflake({ node: 7 });
let refused;
try {
  await import("frazil/native");
} catch (error) {
  refused = error.code;
}
process.stdout.write(JSON.stringify({ backend, refused }));
