// The search index: each section of the pages, and each row with an anchor, such as an error code. The index has more words than the pages,
// but the same titles and anchors.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

/** Words that people search for where the pages use others, by page and section; `top` is the first section. */
const SEARCHED_AS = {
  "start.md": { top: "getting started quick start installation tutorial" },
  "concepts/safety.md": { top: "duplicate duplicates collision collisions uniqueness" },
  "concepts/time.md": { top: "clock went back, goes backwards, skew, drift, NTP" },
  "guides/audit.md": { top: "two rows have one ID, same ID twice, duplicate key, incident, post mortem, wrong IDs" },
  "guides/deploying.md": {
    top: "autoscaling scaling replicas",
    health: "monitoring observability alerting",
    "restores-and-copies": "backup snapshot clone point in time recovery PITR VM disaster",
  },
  "guides/frameworks.md": { nest: "nestjs nest.js", next: "nextjs next.js" },
  "guides/databases.md": {
    "knex-typeorm-sequelize-mongodb": "mongoose",
    "indexes-and-partitions": "shard shards sharding",
  },
  "guides/json.md": { "each-carrier": "excel csv spreadsheet" },
  "guides/leases.md": { "quick-start": "multi-region regions", "when-the-program-ends": "graceful shutdown SIGTERM" },
  "guides/runtimes.md": { browsers: "mint in a browser, in the page, react component" },
  "guides/serverless.md": { top: "serverless FaaS" },
  "guides/testing.md": { "fake-timers": "setSystemTime" },
  "reference/benchmarks.md": { top: "throughput speed performance latency" },
  "reference/layouts.md": { top: "which layout, discord twitter instagram mastodon sonyflake" },
  "reference/text.md": { top: "base62 base32 hexadecimal" },
};

/** Their number of copies in the index: these sections are meant, while others only mention the words. */
const WEIGHT = 3;

const HEADING = /<h([1-6]) id="([^"]*)"[^>]*>(.*?)\s*<a class="header-anchor"[^>]*>.*?<\/a><\/h\1>/gs;
const ROW = /<tr>(?:(?!<\/tr>).)*<a id="(?:(?!<\/tr>).)*<\/tr>/gs;
const textOf = (html) => html.replaceAll(/<[^>]*>/g, "");

/** The sections of a page for the index of VitePress. */
export function* sectionsOf(file, html) {
  const searched = { ...SEARCHED_AS[relative(docs, file).replaceAll("\\", "/")] };
  const [, ...parts] = html.split(HEADING);
  const open = [];
  for (let at = 0; at < parts.length; at += 4) {
    const [level, anchor, heading, content] = parts.slice(at, at + 4);
    open.length = level - 1;
    open.push(textOf(heading));
    const titles = open.filter((title) => title !== undefined);
    const name = at === 0 ? "top" : anchor;
    yield { anchor, titles, text: `${textOf(content)} ${`${searched[name] ?? ""} `.repeat(WEIGHT)}` };
    delete searched[name];
    for (const [row] of content.matchAll(ROW))
      for (const [, id] of row.matchAll(/<a id="([^"]*)">/g))
        yield { anchor: id, titles: [...titles, id], text: textOf(row) };
  }
  const [unused] = Object.keys(searched);
  if (html !== "" && unused !== undefined) throw new Error(`${file} has no section ${unused}, which the search names`);
}
