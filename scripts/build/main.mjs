// `npm run build`: installs what the build needs, and builds what is missing or out of date.
import { build } from "./index.mjs";
import { setUp } from "../setup.mjs";
import { begin } from "../shell.mjs";

await begin(setUp, build);
