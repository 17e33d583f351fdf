// `npm run build`: installs what the build needs, and builds what is missing or out of date.
import { build } from "./build.mjs";
import { setUp } from "./setup.mjs";

await setUp();
await build();
