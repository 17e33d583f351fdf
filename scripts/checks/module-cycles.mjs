// Finds modules of a Rust crate that import each other in a circle. `npm test -- lint-rust` runs it.
//
// No maintained tool holds this for Rust. clippy has no such lint (rust-clippy#5782). cargo-modules 0.27 takes 13 minutes of processor time
// to install; its `--acyclic` fails for every type whose methods use it. It also counts what a method uses as an import of the file that
// defines the type, so an `impl` in another file looks like a circle. cargo-cycles 0.2 finds nothing if the folder of a crate has another
// name than the crate.
//
// An import is a path in the code that begins with `crate`, `self`, `super` or a submodule. Comments, strings and the tests at the
// end of a file do not count, nor does `mod`. Not seen: what a macro makes, and methods that are called without an import.
import { readdirSync, readFileSync } from "node:fs";
import { root } from "../shell.mjs";

/** The code of a file without comments, strings and tests. */
const code = (text) =>
  text.replace(/#\[cfg\((?:all\()?test\b[^\]]*\]\s*mod \w+ \{[\s\S]*$/, "").replace(/\/\/.*|"(?:[^"\\]|\\.)*"/g, "");

/** The module that a file of a crate holds: `""`, `abi`, `abi::slots`. */
const moduleOf = (file) =>
  file
    .replace(/\.rs$/, "")
    .replace(/(^|\/)(mod|lib|main)$/, "")
    .replaceAll("/", "::");

/** The paths of a tree as it stands after `use`: `a::{b, c::d}` is `a::b` and `a::c::d`. */
function paths(tree, prefix = "") {
  const open = tree.indexOf("{");
  if (open < 0) return [prefix + tree];
  const parts = [];
  let depth = 0;
  let start = open + 1;
  for (let at = start; at < tree.length; at++) {
    if (tree[at] === "{") depth++;
    if (depth === 0 && (tree[at] === "," || tree[at] === "}")) {
      parts.push(tree.slice(start, at));
      start = at + 1;
    } else if (tree[at] === "}") depth--;
  }
  return parts.flatMap((part) => (part ? paths(part, prefix + tree.slice(0, open)) : []));
}

/** The modules that each module of a crate imports, by its files. The root of the crate is `""`. */
export function importsOf(files) {
  const modules = new Map(Object.entries(files).map(([file, text]) => [moduleOf(file), code(text)]));
  const resolve = (from, path) => {
    const names = path.split("::");
    const at = names[0] === "crate" ? [] : from.split("::").filter(Boolean);
    if (names[0] === "crate" || names[0] === "self") names.shift();
    else if (names[0] !== "super" && !modules.has([...at, names[0]].join("::"))) return undefined;
    for (; names[0] === "super"; names.shift()) at.pop();
    for (const name of names) {
      if (!modules.has([...at, name].join("::"))) break;
      at.push(name);
    }
    return at.join("::");
  };
  const imports = new Map();
  for (const [module, text] of modules) {
    const used = [...text.matchAll(/\buse ([^;]+);/g)].flatMap(([, tree]) =>
      paths(tree.replace(/\s+as\s+\w+|\s+/g, "")),
    );
    const inline = [...text.matchAll(/(?<![\w:])\w+(?:::\w+)+/g)].map(([path]) => path);
    const found = [...used, ...inline].map((path) => resolve(module, path));
    imports.set(module, new Set(found.filter((other) => other !== undefined && other !== module)));
  }
  return imports;
}

/** The first circle of imports among the files of a crate, as the modules in it; `undefined` where there is none. */
export function circle(files) {
  const imports = importsOf(files);
  const done = new Set();
  const visit = (module, way) => {
    if (way.includes(module)) return [...way.slice(way.indexOf(module)), module];
    if (done.has(module)) return undefined;
    for (const other of imports.get(module)) {
      const found = visit(other, [...way, module]);
      if (found) return found;
    }
    done.add(module);
    return undefined;
  };
  for (const module of imports.keys()) {
    const found = visit(module, []);
    if (found) return found;
  }
  return undefined;
}

/** Fails where modules of a crate import each other in a circle, or where a circle would not be found. */
export function moduleCycles() {
  const mutants = [
    { "lib.rs": "mod a; mod b;", "a.rs": "use crate::b::B;", "b.rs": "fn b() { crate::a::a() }" },
    { "lib.rs": "mod a;", "a/mod.rs": "mod b; use b::{B, C};", "a/b.rs": "use super::{A};" },
    { "lib.rs": "pub use a::A; mod a;", "a.rs": "use crate::{c::C, A};", "c.rs": "" },
  ];
  if (!mutants.every(circle)) throw new Error("a circle of imports is not found");
  for (const crate of readdirSync(`${root}crates`)) {
    const folder = `${root}crates/${crate}/src`;
    const names = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
    const files = names.filter((name) => name.endsWith(".rs"));
    const found = circle(Object.fromEntries(files.map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")])));
    if (found) {
      const way = found.map((module) => module || "lib.rs").join(" -> ");
      throw new Error(`modules of crates/${crate} import each other in a circle: ${way}`);
    }
  }
}
