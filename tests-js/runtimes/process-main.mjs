// The program for runtimes that are processes: checks the vectors, mints, and prints the result. The first argument is a
// directory for a state file. With the argument `require` it also loads the package by `require`.
import { createRequire } from "node:module";
import * as frazil from "frazil";
import { checkMinting, checkVectors } from "./checks.mjs";
import { resultOf } from "./json-result.mjs";

function requireGivesSameExports() {
  const required = createRequire(import.meta.url)("frazil");
  return Object.keys(frazil).every((name) => name === "default" || frazil[name] === required[name]);
}

const answer = await resultOf(async () => ({
  vectors: checkVectors(),
  minting: await checkMinting(5, process.argv[2]),
  requireIsImport: process.argv.includes("require") ? requireGivesSameExports() : undefined,
}));
console.log(JSON.stringify(answer));
