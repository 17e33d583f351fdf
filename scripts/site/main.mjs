// `npm run site` serves the pages of docs/ while they are written. `npm run site:build` writes them to site/dist, for any static host; with
// SITE_BASE as the path of the site on its host, from / to /.
import { parseArgs } from "node:util";
import { build } from "../build/index.mjs";
import { setUp } from "../setup.mjs";
import { begin } from "../shell.mjs";
import { buildSite, serveSite } from "./index.mjs";

const { positionals } = parseArgs({ allowPositionals: true });
await begin(setUp, build, positionals[0] === "build" ? buildSite : serveSite);
