// The examples of a page: its fenced blocks, and what is said about them.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = fileURLToPath(new URL("../../", import.meta.url));

const BLOCK = /(?:^ *<!-- not run: (?<reason>[^\n]*?) -->\n)?^(?<indent> *)```(?<language>\w+)\n(?<body>.*?)^ *```$/gms;

/**
 * The fenced blocks of a text: language, code, `line` of the page, and the `reason` of a comment `<!-- not run: … -->` in the line
 * before it.
 */
export function blocksOf(text) {
  return [...text.matchAll(BLOCK)].map(({ index, 0: all, groups: { reason, indent, language, body } }) => ({
    language,
    reason,
    code: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    line: text.slice(0, index + all.indexOf("```")).split("\n").length,
    end: index + all.length,
  }));
}

/** The blocks of JavaScript in a text, each with the output that directly follows it, if any does. */
export function programsOf(text) {
  const blocks = blocksOf(text);
  return blocks.flatMap((block, at) => {
    if (block.language !== "js") return [];
    const next = blocks[at + 1];
    const follows = next?.language === "text" && /^\s*```text\n/.test(text.slice(block.end));
    return [{ ...block, output: follows ? next.code : undefined }];
  });
}

/** Every page with examples, as a path from the root. */
export const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md") && !/^docs\/(proofs|reference\/(api|benchmarks))\//.test(name))
    .sort(),
];
/**
 * The tests that run the programs of a page. What is a part of a program there is only compiled. The programs of all other pages
 * `readme.test.mjs` runs, if their output follows, and those of `WORKERS_ONLY` that are no Workers: they need no server, so it runs
 * them on every machine.
 */
export const RUN_BY = {
  "docs/guides/databases.md": "tests-js/pages/databases.test.mjs",
  "docs/guides/frameworks.md": "tests-js/pages/frameworks.test.mjs",
  "docs/guides/leases.md": "tests-js/stores/first-minute.test.mjs",
  "docs/guides/migrating/index.md": "tests-js/pages/migrating.test.mjs",
  "docs/guides/migrating/segments.md": "tests-js/stores/migrating/segments-page.test.mjs",
  "docs/guides/public-ids.md": "tests-js/public/page.test.mjs",
  "docs/guides/segments.md": "tests-js/segment/page.test.mjs",
  "docs/guides/serverless.md": "tests-js/lease/serverless/recipes.test.mjs",
  "docs/reference/stores.md": "tests-js/stores/postgres/document.test.mjs",
  "docs/guides/json.md": "tests-js/transport/page.test.mjs",
  "docs/guides/typed-ids.md": "tests-js/typed/with/page.test.mjs",
  "docs/guides/workers.md": "tests-js/workers/page.test.mjs",
  "docs/reference/stores/d1.md": "tests-js/stores/d1/page.test.mjs",
  "docs/reference/stores/durable-object.md": "tests-js/stores/durable-object/page.test.mjs",
  "docs/reference/stores/etcd.md": "tests-js/stores/etcd/page.test.mjs",
  "docs/reference/stores/mysql.md": "tests-js/stores/mysql/page.test.mjs",
  "docs/reference/stores/postgres.md": "tests-js/stores/postgres/page.test.mjs",
  "docs/reference/stores/redis.md": "tests-js/stores/redis/page.test.mjs",
  "docs/reference/stores/sqlite.md": "tests-js/stores/sqlite/page.test.mjs",
  "docs/reference/stores/zookeeper.md": "tests-js/stores/zookeeper/page.test.mjs",
};

/** Pages of `RUN_BY` whose test runs the Workers alone. */
const WORKERS_ONLY = ["docs/guides/json.md"];

/** Whether a program is a whole Worker. */
export const isWorker = ({ code }) => /^export default \{$/m.test(code);

/** The programs of a page that `readme.test.mjs` runs. */
export const programsWithoutServer = (page) =>
  programsOf(textOf(page)).filter((program) => {
    const isRunElsewhere = WORKERS_ONLY.includes(page) ? isWorker(program) : RUN_BY[page] !== undefined;
    return program.output !== undefined && !isRunElsewhere;
  });

export const textOf = (page) => readFileSync(join(root, page), "utf8");

/**
 * Runs a program in a new folder below `folder`, where its packages are found. Resolves to what it prints, and rejects if it writes an
 * error or takes longer than 30 seconds.
 */
export async function printed(code, { folder, env = {} }) {
  const own = mkdtempSync(join(folder, "run-"));
  try {
    writeFileSync(join(own, "program.mjs"), code);
    // The default directory of state files.
    const all = { ...process.env, NODE_NO_WARNINGS: "1", XDG_STATE_HOME: join(own, "state"), ...env };
    const { stdout, stderr } = await run(process.execPath, [join(own, "program.mjs")], { env: all });
    if (stderr !== "") throw new Error(stderr);
    return stdout;
  } finally {
    rmSync(own, { recursive: true });
  }
}

/** What a program printed, without what differs each time: IDs and times that were made now. */
export const shapeOf = (text) =>
  text
    .replaceAll(/\b[3-9]\d{17}n?\b/g, (id) => (id.endsWith("n") ? "<id>n" : "<id>"))
    .replaceAll(/\b20(2[6-9]|[3-9]\d)-\d\d-\d\dT[\d:.]+Z/g, "<now>");
