// The record of the last passed run of each consumer, docs/proofs/consumers.md.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { tools } from "../../scripts/tools.mjs";

export const RECORD = fileURLToPath(new URL("../../docs/proofs/consumers.md", import.meta.url));

const HEAD = `# Consumers: the record

Written by \`npm test -- consumers-long\`: the last passed run of each consumer of \`tests-js/consumers/consumers.mjs\`, with the
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

/** The versions that the record names: the Node that runs the tools, a tool that is no package of the project, and its packages. */
function versionsOf(consumer) {
  const { under, tool } = consumer;
  const node = `Node ${versionOf(under === undefined ? process.execPath : (tools[under] ?? under))}`;
  return [node, tool && `${tool} ${versionOf(tools[tool])}`, packagesOf(consumer)].filter(Boolean).join("; ");
}

/** What the versions of a row must be, whatever version of Node ran the tools. */
export function isOfVersions(text, consumer) {
  const parts = text.trim().split("; ");
  const tool = consumer.tool === undefined ? 0 : 1;
  const packages = packagesOf(consumer);
  return (
    parts.length === 1 + tool + (packages ? 1 : 0) &&
    /^Node \d+\.\d+\.\d+$/.test(parts[0]) &&
    (!tool || new RegExp(`^${consumer.tool} \\d+\\.\\d+\\.\\d+$`).test(parts[1])) &&
    (!packages || parts.at(-1) === packages)
  );
}

/** The row of a consumer that has passed. */
export function rowOf(consumer, date) {
  const { name, shows } = consumer;
  const used = versionsOf(consumer);
  return `| \`${name}\` | ${shows} | ${used} | ${backendsOf(consumer)} | ${date.toISOString().slice(0, 10)} |`;
}

export const printRecord = (rows) => `${HEAD}${rows.join("\n")}\n`;
/** The rows of a record by the name of their consumer. */
export const parseRecord = (text) =>
  new Map(Array.from(text.matchAll(/^\| `([^`]+)` \|.*\|$/gm), ([row, name]) => [name, row]));
