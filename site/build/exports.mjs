// The pages of docs/reference/api/: one for each entry of the package, with every export as declared in npm/frazil/dist/types. They are
// written when the site is built or served, and not committed.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const TYPES = fromRoot("npm/frazil/dist/types/");
const FOLDER = "reference/api/";

const COMMENT = String.raw`\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n`;
/** The comments and statements of compiler output: statements begin in the first column, their contents do not. */
const statementsIn = (text) => [
  ...text.matchAll(
    new RegExp(`^(${COMMENT})?((?!\\/\\*\\*)[^\\s}][\\s\\S]*?)(?=\\n(?! |\\}|\\))|$(?![\\s\\S]))`, "gm"),
  ),
];
const DECLARED = /^(?:export )?(?:declare )?(class|function|const|interface|type) (\w+)/;
const ORDER = ["function", "class", "const", "error", "interface", "type"];
const rankOf = ({ kind, parts: [{ code }] }) =>
  ORDER.indexOf(/^class \w+ extends (Frazil)?Error\b/.test(code) ? "error" : kind);

/** The text of a comment as Markdown: errors become a list. */
function prose(comment = "") {
  const text = comment.replaceAll(/^ *\/\*\* ?| ?\*\/\n$|^ *\* ?/gm, "").trim();
  const [said, ...tags] = text.split(/^@/m);
  const items = tags.map((tag) =>
    tag
      .trim()
      .replace(/^throws \{(\w+)\} /, "Throws `$1`: ")
      .replace(/^throws /, "Throws ")
      .replace(/^param (\w+) /, "`$1`: ")
      .replaceAll("\n", "\n  "),
  );
  return `${said.trim()}\n\n${items.map((item) => `* ${item}`).join("\n")}`.trim();
}

/** `A, type B as C` as pairs of the name within and the name outside. */
const namesIn = (list) =>
  list
    .split(",")
    .map((name) => name.trim().replace(/^type /, ""))
    .filter((name) => name !== "")
    .map((name) => name.split(" as "))
    .map(([from, to = from]) => [from, to]);

/** A declaration file: its declarations, and the meanings of its names and exports. */
function readDeclarations(file) {
  const text = readFileSync(`${TYPES}${file}`, "utf8");
  const pathOf = (specifier) =>
    specifier === "frazil" ? "index.d.ts" : posix.join(posix.dirname(file), specifier.replace(/\.js$/, ".d.ts"));
  const [declared, names, exported, all] = [new Map(), new Map(), new Map(), []];
  for (const [, comment, code] of statementsIn(text)) {
    const [, kind, name] = DECLARED.exec(code) ?? [];
    const [, list, from] = /^(?:import|export)(?: type)? \{([^}]*)\}(?: from "([^"]+)")?;/.exec(code) ?? [];
    const [, star] = /^export (?:type )?\* from "([^"]+)";/.exec(code) ?? [];
    if (kind !== undefined) {
      const one = declared.get(name) ?? { kind, name, file, parts: [] };
      one.parts.push({ comment, code: code.replace(/^(export )?(declare )?/, "") });
      declared.set(name, one);
      names.set(name, { file, name });
      if (code.startsWith("export ")) exported.set(name, { file, name });
    } else if (list !== undefined) {
      for (const [inside, outside] of namesIn(list)) {
        const target = from === undefined ? names.get(inside) : { file: pathOf(from), name: inside };
        (code.startsWith("export ") ? exported : names).set(outside, target);
      }
    } else if (star !== undefined) all.push(pathOf(star));
    else if (!/^(import "|import type \w|declare global)/.test(code)) throw new Error(`${file}: ${code}`);
  }
  return { declared, names, exported, all };
}

const read = new Map();
const fileOf = (file) => read.get(file) ?? read.set(file, readDeclarations(file)).get(file);

/** The declaration of a name in a file. */
function declarationOf({ file, name }) {
  const { declared, exported, names, all } = fileOf(file);
  const found = declared.get(name);
  if (found !== undefined) return found;
  const next = exported.get(name) ?? names.get(name);
  if (next !== undefined) return declarationOf(next);
  return all.map((from) => declarationOf({ file: from, name })).find((one) => one !== undefined);
}

/** The exports of a file: name to declaration. */
function exportsOf(file) {
  const { exported, all } = fileOf(file);
  const own = [...exported].map(([name, target]) => [name, declarationOf(target)]);
  return new Map([...all.flatMap((from) => [...exportsOf(from)]), ...own]);
}

/** The declarations of the package that these refer to and no entry exports, transitively. */
function behind(declarations, isExported) {
  const found = new Set(declarations);
  for (const { file, parts } of found)
    for (const word of new Set(parts.flatMap(({ code }) => code.match(/\b[A-Z]\w+/g) ?? []))) {
      const target = fileOf(file).names.get(word);
      const one = target && declarationOf(target);
      if (one !== undefined && !isExported(one)) found.add(one);
    }
  return [...found].filter((one) => !declarations.includes(one));
}

/** Some names differ only in case: `LeaseContract`, `leaseContract`. */
const anchorOf = (...names) => names.join("-");
const block = (code) => `\`\`\`ts\n${code.trim()}\n\`\`\``;

/** A class: its head with the self-explanatory members, then the others, each with its own heading. */
function classOf({ name: owner, parts: [{ comment, code }] }) {
  const [, head, body] = /^(.*) \{\n?([\s\S]*)\}$/.exec(code);
  const members = new Map();
  const plain = [];
  for (const [, said, member] of statementsIn(body.replaceAll(/^ {4}/gm, ""))) {
    const [, isStatic, name] = /^(static )?(?:readonly |get |set |protected )*(#?\w+|\[[\w.]+\])/.exec(member);
    if (name === "private" || name.startsWith("#")) continue;
    const key = anchorOf(owner, name.replaceAll(/\W/g, ""));
    if (said === undefined && !members.has(key)) plain.push(member.replaceAll(/^/gm, "    "));
    else {
      const title = name === "constructor" ? `new ${owner}` : `${isStatic ? owner : ""}.${name}`.replace(".[", "[");
      members.set(key, [...(members.get(key) ?? [`### \`${title}\` {#${key}}`]), prose(said), block(member)]);
    }
  }
  const shown = plain.length === 0 ? head : `${head} {\n${plain.join("\n")}\n}`;
  return [prose(comment), block(shown), ...[...members.values()].flat()];
}

function entryOf(declaration) {
  const { kind, name, parts } = declaration;
  const texts =
    kind === "class" ? classOf(declaration) : parts.flatMap(({ comment, code }) => [prose(comment), block(code)]);
  return [`## \`${name}\` {#${anchorOf(name)}}`, ...texts].filter((text) => text !== "").join("\n\n");
}

/** The comment at the head of a source. The compiler leaves it out if an import follows. */
function aboutOf(file) {
  const source = readFileSync(fromRoot(`npm/frazil/src/${file.replace(/\.d\.ts$/, ".ts")}`), "utf8");
  return prose(new RegExp(`^${COMMENT}`).exec(source)[0]);
}

/** The entries, by their specifier, with their exports. Those for tests are last, because they re-export types of the others. */
export function entries() {
  const { exports } = JSON.parse(readFileSync(fromRoot("npm/frazil/package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => !/\.(json|wasm)$/.test(path));
  return [
    ...paths.filter((path) => !path.includes("testing")),
    ...paths.filter((path) => path.includes("testing")),
  ].map((path) => {
    const file = path === "." ? "index.d.ts" : `${path.slice(2)}/index.d.ts`;
    const page = path === "." ? "frazil.md" : `${path.slice(2).replaceAll("/", "-")}.md`;
    const folder = file.replace(/index\.d\.ts$/, "") || file;
    const about = aboutOf(file);
    return { specifier: `frazil${path.slice(1)}`, page, file, folder, about, exported: exportsOf(file) };
  });
}

/**
 * The page of each entry. An export of several entries is explained on the one whose folder declares it, or else on the first; the others
 * link to it.
 */
export function pagesOfExports() {
  const all = entries();
  const homes = new Map();
  for (const entry of all)
    for (const one of entry.exported.values())
      if (!homes.has(one) || one.file.startsWith(entry.folder)) homes.set(one, entry);
  return all
    .filter(({ exported }) => exported.size > 0)
    .map((entry) => {
      const own = [...entry.exported.values()].filter((one) => homes.get(one) === entry);
      own.sort((a, b) => rankOf(a) - rankOf(b) || Number(b.file === entry.file) - Number(a.file === entry.file));
      const unexported = behind(own, (one) => homes.has(one));
      const others = [...entry.exported].filter(([, one]) => homes.get(one) !== entry);
      const links = others.map(([name, one]) => `[\`${name}\`](${homes.get(one).page}#${anchorOf(one.name)})`);
      const texts = [
        `# ${entry.specifier}`,
        entry.about,
        links.length === 0 ? "" : `Exported here as well: ${links.join(", ")}.`,
        ...own.map(entryOf),
        unexported.length === 0 ? "" : `## Not exported\n\nTypes that the declarations above mention.`,
        ...unexported.map((one) => entryOf(one).replace(/^## .*\n\n/, "")),
      ];
      return {
        page: entry.page,
        specifier: entry.specifier,
        text: `${texts.filter((text) => text !== "").join("\n\n")}\n`,
      };
    });
}

/** Writes the pages, and returns their names. */
export function writeExports() {
  const folder = fromRoot(`docs/${FOLDER}`);
  mkdirSync(folder, { recursive: true });
  // The folder itself stays: `--check-inputs` mounts it.
  for (const page of readdirSync(folder)) rmSync(`${folder}${page}`);
  const pages = pagesOfExports();
  for (const { page, text } of pages) writeFileSync(`${folder}${page}`, text);
  return pages.map(({ page, specifier }) => ({ page, specifier }));
}
