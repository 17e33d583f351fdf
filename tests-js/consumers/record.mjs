// The record of the last passed run of each consumer, docs/proofs/consumers.md.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { tools } from "../../scripts/tools.mjs";

export const RECORD = fileURLToPath(new URL("../../docs/proofs/consumers.md", import.meta.url));

const HEAD = `# Consumers: the record

Written by \`npm run test:long -- consumers\`: the last passed run of each consumer of \`tests-js/consumers/consumers.mjs\`, with the
packed packages installed in a fresh folder. Each consumer mints and decodes; "backend" is what was seen in each place where
it did. Linux x64 with glibc.

| consumer | shows | versions | backend | date |
|---|---|---|---|---|
`;

const versions = new Map();
function versionOf(program) {
  if (!versions.has(program))
    versions.set(program, execFileSync(program, ["--version"], { encoding: "utf8" }).trim().replace(/^v/, ""));
  return versions.get(program);
}

/** The packages of a consumer with their versions, as the record names them. */
export const packagesOf = ({ packages = {} }) =>
  Object.entries(packages)
    .map(([name, version]) => `${name} ${version.replace(/^npm:.*@/, "")}`)
    .join(", ");
export const backendsOf = ({ expect }) =>
  Object.entries(expect)
    .map(([place, backend]) => `${place}: ${backend}`)
    .join(", ");

/** The row of a consumer that has passed. */
export function rowOf(consumer, date) {
  const { name, shows, under } = consumer;
  const node = under === undefined ? process.execPath : (tools[under] ?? under);
  const used = [`Node ${versionOf(node)}`, packagesOf(consumer)].filter(Boolean).join("; ");
  return `| \`${name}\` | ${shows} | ${used} | ${backendsOf(consumer)} | ${date.toISOString().slice(0, 10)} |`;
}

export const printRecord = (rows) => `${HEAD}${rows.join("\n")}\n`;
/** The rows of a record by the name of their consumer. */
export const parseRecord = (text) =>
  new Map(Array.from(text.matchAll(/^\| `([^`]+)` \|.*\|$/gm), ([row, name]) => [name, row]));
