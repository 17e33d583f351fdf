// `npm run build`: installs what the build needs, and builds what is missing or out of date.
import { setUp } from "../setup.mjs";
import { begin } from "../shell.mjs";
import { build } from "./index.mjs";

await begin(setUp, build);
