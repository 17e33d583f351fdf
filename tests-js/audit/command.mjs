// `npx frazil audit` on the files of incidents.
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { frazil } from "../cli/cli.mjs";

/** What a kind of finding is, unless it is exact. */
const CERTAINTIES = {
  looks_shared: "statistical",
  mixed_layouts: "statistical",
  rounded: "statistical",
  random_nodes: "informational",
  silent: "informational",
};
export const certaintyOf = (kind) => CERTAINTIES[kind] ?? "exact";

/** The arguments for an incident. */
const argumentsOf = ({ layout, format, nowMs }) => [
  ...["audit", "--json", "--now", new Date(nowMs).toISOString()],
  ...(layout === undefined ? [] : ["--layout", layout]),
  ...(format === "raw" ? ["--format", "raw"] : []),
];

/**
 * The report on a file of an incident, which may come through a pipe. Whatever is found, each finding has a certainty and words, and the
 * exit code is 1 if one is more than informational.
 */
export async function auditOf(incident, path, { isPiped = false, options = [], env } = {}) {
  const args = [...argumentsOf(incident), ...options, isPiped ? "-" : path];
  const { stdout, stderr, code } = await frazil(args, { input: isPiped ? createReadStream(path) : undefined, env });
  assert.ok(stderr === "" && stdout !== "", `${args.join(" ")} ends with ${code}: ${stderr}`);
  const report = JSON.parse(stdout);
  for (const { kind, certainty, falseAlarmRate, message, hint } of report.findings) {
    assert.equal(certainty, certaintyOf(kind), kind);
    assert.ok(message.length > 0 && hint.length > 0, kind);
    if (certainty === "statistical") assert.ok(falseAlarmRate > 0 && falseAlarmRate < 1, `${kind}: ${falseAlarmRate}`);
    else assert.equal(falseAlarmRate, undefined, kind);
  }
  const isWrong = report.findings.some(({ certainty }) => certainty !== "informational");
  assert.equal(code, isWrong ? 1 : 0);
  return report;
}
