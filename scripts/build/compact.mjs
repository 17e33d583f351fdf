// Makes a file of `dist` smaller: one import for each file that it imports, and none of what only readers of the source need.
import { readFileSync, writeFileSync } from "node:fs";

/** Where a line is broken, in columns. Node prints the whole line of an error that nothing catches. */
const LINE_LIMIT = 120;

/**
 * The comment that esbuild writes above the statement that tells Node the names of exports. The statement never runs, so esbuild would
 * remove it.
 */
const NOTE_ON_NAMES = "// Annotate the CommonJS export names for ESM import in node:\n";

/** Makes one import of all that esbuild writes for a file: one for each source that has some. */
function mergeImports(text) {
  const namesOf = new Map();
  const first = text.replace(/^import \{([^}]*)\} from ("\..*");\n/gm, (all, names, from) => {
    const known = namesOf.get(from);
    namesOf.set(from, `${known ? `${known},` : ""}${names}`);
    return known ? "" : all;
  });
  return first.replace(
    /^import \{[^}]*\} from ("\..*");$/gm,
    (_, from) => `import {${namesOf.get(from)}} from ${from};`,
  );
}

/** The same for CommonJS, where each is a variable. */
function mergeRequires(text) {
  const [kept, merged] = [new Map(), new Map()];
  return text
    .replace(/\b(import_\w+) = require\(("\..*?")\)/g, (all, name, from) => {
      if (kept.has(from)) merged.set(name, kept.get(from));
      else kept.set(from, name);
      return merged.has(name) ? "__MERGED__" : all;
    })
    .replace(/,\s+__MERGED__\b/g, "")
    .replace(/^var __MERGED__;\n|(?<=^var )__MERGED__,\s+/gm, "")
    .replace(/\bimport_\w+/g, (name) => merged.get(name) ?? name);
}

/**
 * Merges imports, and removes white space and comments, since neither npm nor wrangler minifies. esbuild takes the marks of what bundlers
 * may leave out for comments too, so meanwhile each is an operand.
 */
export async function compact(file, { transform }) {
  const text = mergeRequires(mergeImports(readFileSync(file, "utf8")));
  const [program, names = ""] = text.split(NOTE_ON_NAMES);
  const marked = program.replaceAll("/* @__PURE__ */ ", "__PURE__ + ");
  const { code } = await transform(marked, { minifyWhitespace: true, lineLimit: LINE_LIMIT, legalComments: "none" });
  // Text is not broken, so that a message can be found in the file.
  const whole = code.replace(/\\\n/g, "").replace(/__PURE__\+\n?/g, "/*@__PURE__*/");
  const bare = whole + names.replace(/\s+/g, "");
  const [before, after] = await Promise.all(
    [text, bare].map((all) => transform(all, { minifyWhitespace: true, minifySyntax: true })),
  );
  // The minifier drops the marks, so they are counted.
  const marksOf = (all) => all.split("@__PURE__").length;
  if (before.code !== after.code || marksOf(text) !== marksOf(bare))
    throw new Error(`${file}: more than white space would be removed`);
  writeFileSync(file, bare);
}
