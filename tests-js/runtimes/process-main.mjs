// Runs the vectors and mints in a runtime that is a process of its own, and prints what it saw. The first argument is a directory
// for a state file. With the argument `require` it also loads the package by `require`.
import { createRequire } from "node:module";
import * as frazil from "frazil";
import { checkMinting, checkVectors } from "./checks.mjs";
import { report } from "./json-result.mjs";

function isOne() {
  const required = createRequire(import.meta.url)("frazil");
  return Object.keys(frazil).every((name) => name === "default" || frazil[name] === required[name]);
}

const answer = await report(async () => ({
  vectors: checkVectors(),
  minting: await checkMinting(5, process.argv[2]),
  requireIsImport: process.argv.includes("require") ? isOne() : undefined,
}));
console.log(JSON.stringify(answer));
