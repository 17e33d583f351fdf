// Reads the record of the runs of a release on its platforms, for `npm run release`.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readJson } from "../packages.mjs";
import { problemsOfRuns, runsIn } from "./problems.mjs";

/** The files of a record: itself, or those named platforms.json in a folder, where a workflow has put other records beside them. */
function recordsIn(path) {
  if (!existsSync(path)) throw new Error(`there is no record of runs at ${path}`);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .filter((name) => basename(name) === "platforms.json")
    .map((name) => join(path, name));
}

/** Reasons why the record of runs in these files does not cover packed platform packages. */
export function problemsOfRecords(packed, paths) {
  const runs = paths.flatMap(recordsIn).flatMap((file) => runsIn(file, readJson(file)));
  return problemsOfRuns({ packed, runs, files: paths });
}
