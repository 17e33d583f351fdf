// Each reason not to release, as a function of facts: `scripts/release/problems.mjs`. `release.test.mjs` shows that `npm run release`
// gathers these facts, and refuses for each.
//
// Each group of facts is first that of a good release, without a problem. Then one fact is changed, and exactly one reason must be found,
// with its exact words.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  problemsOfCheckout,
  problemsOfFolder,
  problemsOfPlatformPackage,
  problemsOfProvenance,
  problemsOfPublished,
  problemsOfRuns,
  problemsOfTarballs,
  publishedIn,
  runsIn,
  tagOf,
} from "../../scripts/release/problems.mjs";
import { problemsOfRecords } from "../../scripts/release/runs.mjs";
import { hiddenFilesIn } from "../../scripts/test/rows.mjs";

/** One test of each change of good facts: `[name, change of the facts, the problems]`. */
function refusals(problemsOf, good, cases) {
  test(`${problemsOf.name} finds nothing in a good release`, () => assert.deepEqual(problemsOf(good()), []));
  for (const [name, change, ...problems] of cases)
    test(`${problemsOf.name}: ${name}`, () => {
      const facts = good();
      assert.deepEqual(problemsOf(change(facts) ?? facts), problems);
    });
}

const changelog = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-23\n\n* All.\n";
const checkout = (facts) => ({
  hiddenFiles: [],
  status: "",
  versionErrors: [],
  repositoryErrors: [],
  staleManifests: [],
  unprovenSuites: [],
  version: "1.2.3",
  changelog,
  ...facts,
});
const noHeading = 'CHANGELOG.md has no heading of 1.2.3: must have "## 1.2.3 - YYYY-MM-DD"';

refusals(problemsOfCheckout, checkout, [
  [
    "a checkout with changes",
    () => checkout({ status: "M README.md" }),
    "the checkout has changes that are not committed:\nM README.md",
  ],
  [
    "a file that is not committed",
    () => checkout({ status: "?? new.txt" }),
    "the checkout has changes that are not committed:\n?? new.txt",
  ],
  [
    "changes that git is told to overlook",
    () => checkout({ hiddenFiles: ["LICENSE-MIT", "README.md"] }),
    "git is told to overlook changes of: LICENSE-MIT, README.md (git update-index --no-assume-unchanged --no-skip-worktree)",
  ],
  [
    "versions that differ",
    () => checkout({ versionErrors: ["the version is 1.2.3 in Cargo.toml, but not everywhere"] }),
    "the version is 1.2.3 in Cargo.toml, but not everywhere",
  ],
  [
    "a setting of the repository that cannot be used",
    () => checkout({ repositoryErrors: ["repository in package.json is 7"] }),
    "repository in package.json is 7",
  ],
  [
    "suites that have not passed",
    () => checkout({ unprovenSuites: ["loom", "nemesis-etcd-long"] }),
    "docs/proofs/passed.json has no pass of this checkout of: loom, nemesis-etcd-long (npm run test:all, npm run test:long)",
  ],
  [
    "manifests that do not follow the repository",
    () => checkout({ staleManifests: ["Cargo.toml", "npm/frazil/package.json"] }),
    "Cargo.toml does not follow the repository: npm run repository -- --write",
    "npm/frazil/package.json does not follow the repository: npm run repository -- --write",
  ],
  ["no heading in CHANGELOG.md", () => checkout({ changelog: "# Changelog\n\n## Unreleased\n" }), noHeading],
  [
    "headings of longer versions, without a date, and of another level",
    () =>
      checkout({
        changelog: `${["1.2.31", "11.2.3", "1.2.3-beta.1"].map((each) => `## ${each} - 2026-11-23\n`).join("")}## 1.2.3\n### 1.2.3 - 2026-11-23\n`,
      }),
    noHeading,
  ],
  ["a date that is none", () => checkout({ changelog: "## 1.2.3 - 2026-11-2\n## 1.2.3 - soon\n" }), noHeading],
  ["a point is a point", () => checkout({ changelog: "## 1x2.3 - 2026-11-23\n## 1.2x3 - 2026-11-23\n" }), noHeading],
  ["a heading with a link is one", () => checkout({ changelog: "## [1.2.3] - 2026-11-23\n" })],
  [
    "every reason is found beside the others",
    () => ({
      hiddenFiles: ["a"],
      status: "M b",
      versionErrors: ["c"],
      repositoryErrors: ["d"],
      staleManifests: ["e"],
      unprovenSuites: ["f"],
      version: "1.2.3",
      changelog: "",
    }),
    "git is told to overlook changes of: a (git update-index --no-assume-unchanged --no-skip-worktree)",
    "the checkout has changes that are not committed:\nM b",
    "c",
    "d",
    "e does not follow the repository: npm run repository -- --write",
    "docs/proofs/passed.json has no pass of this checkout of: f (npm run test:all, npm run test:long)",
    noHeading,
  ],
]);

test("the files that git is told to overlook are those that it lists in lower case, or with an S", () => {
  assert.deepEqual(hiddenFilesIn("H README.md\nM Small.txt\nH s.txt"), []);
  assert.deepEqual(hiddenFilesIn("H a\nh b c\nS d\ns e\nH f"), ["b c", "d", "e"]);
});

refusals(problemsOfPlatformPackage, () => ({ folder: "linux-x64-gnu", hasAddon: true, inspectionErrors: [] }), [
  [
    "a platform package without an addon",
    (facts) => ({ ...facts, hasAddon: false }),
    "npm/linux-x64-gnu has no frazil.node: npm run build:platforms builds every platform package",
  ],
  [
    "a platform package that fails inspection",
    (facts) => ({ ...facts, inspectionErrors: ["it needs glibc 2.99"] }),
    "npm/linux-x64-gnu fails inspection: it needs glibc 2.99",
  ],
]);

const FILES = ["docs/proofs/platforms.json"];
const run = (changes) => ({
  platform: "linux-x64-gnu",
  version: "1.2.3",
  contents: { frazil: "f", "frazil-linux-x64-gnu": "x" },
  standIn: null,
  failed: [],
  ...changes,
});
const released = () => ({
  packed: [
    { name: "frazil-linux-x64-gnu", platform: "linux-x64-gnu", version: "1.2.3", content: "x" },
    { name: "frazil-darwin-x64", platform: "darwin-x64", version: "1.2.3", content: "d" },
    { name: "frazil", version: "1.2.3", content: "f" },
  ],
  runs: [run(), run({ platform: "darwin-x64", contents: { frazil: "f", "frazil-darwin-x64": "d" } })],
  files: FILES,
});
const notRun = (found, platform = "linux-x64-gnu", files = FILES) =>
  `${platform} 1.2.3 has not run as it is packed: the record (${files.join(", ")}) has ${found} (npm run test:platform -- ${platform} --packed FOLDER on that system, and --record PATH of what it writes)`;
/** The runs of a release, with others in the place of the first one. */
const withRuns = (...runs) => {
  const facts = released();
  facts.runs.splice(0, 1, ...runs);
  return facts;
};

refusals(problemsOfRuns, released, [
  ["a platform without a record", () => withRuns(), notRun("no run of it")],
  [
    "an addon that has not run",
    () => withRuns(run({ contents: { frazil: "f", "frazil-linux-x64-gnu": "another build" } })),
    notRun("a run, with another content of frazil-linux-x64-gnu"),
  ],
  [
    "a frazil that has not run with one of the addons",
    () => withRuns(run({ contents: { frazil: "another build", "frazil-linux-x64-gnu": "x" } })),
    notRun("a run, with another content of frazil"),
  ],
  [
    "a frazil that has run nowhere",
    (facts) => {
      facts.packed.at(-1).content = "another build";
    },
    notRun("a run, with another content of frazil"),
    notRun("a run, with another content of frazil", "darwin-x64"),
  ],
  [
    "a run without contents",
    () => withRuns(run({ contents: {} })),
    notRun("a run, with another content of frazil, with another content of frazil-linux-x64-gnu"),
  ],
  [
    "a platform on which tests failed",
    () => withRuns(run({ failed: ["vectors", "local"] })),
    notRun("a run, where vectors, local failed"),
  ],
  [
    "a platform that was only emulated",
    () => withRuns(run({ standIn: "qemu-user 7.2" })),
    notRun("a run, where qemu-user 7.2 stood in for the system"),
  ],
  ["a run of another version", () => withRuns(run({ version: "1.2.2" })), notRun("a run of 1.2.2")],
  [
    "several runs, each with a flaw",
    () => ({ ...withRuns(run({ failed: ["vectors"] }), run({ standIn: "Wine" })), files: ["a.json", "b.json"] }),
    notRun("a run, where vectors failed; a run, where Wine stood in for the system", "linux-x64-gnu", [
      "a.json",
      "b.json",
    ]),
  ],
  ["a run with a flaw beside one without", () => withRuns(run({ failed: ["vectors"] }), run())],
  [
    "a run of a platform that is not packed, with a flaw",
    () => withRuns(run(), run({ platform: "other", failed: ["a"] })),
  ],
]);

test("a record of something else is no record of runs", () => {
  const good = { version: "1.2.3", contents: {}, standIn: null, failed: [] };
  assert.deepEqual(runsIn("a.json", { "linux-x64-gnu": good }), [{ platform: "linux-x64-gnu", ...good }]);
  for (const bad of [
    null,
    7,
    {},
    { contents: {} },
    ...Object.keys(good)
      .slice(1)
      .map((key) => ({ ...good, [key]: undefined })),
  ])
    assert.throws(() => runsIn("a.json", { "linux-x64-gnu": good, "win32-x64": bad }), {
      message: "a.json: win32-x64 is no record of a run: must have { version, contents, standIn, failed }",
    });
});

test("records are read from files and from folders, where other records may lie beside them, and are joined", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "frazil-records-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { packed, runs } = released();
  const paths = runs.map(({ platform, ...each }) => {
    mkdirSync(join(folder, platform));
    const path = join(folder, platform, "platforms.json");
    writeFileSync(path, JSON.stringify({ [platform]: each }));
    return path;
  });
  writeFileSync(join(folder, "local-platforms.json"), '{ "runs": {} }');
  assert.deepEqual(problemsOfRecords(packed, paths), []);
  assert.deepEqual(problemsOfRecords(packed, [folder]), []);
  // The mutant: one of them.
  assert.deepEqual(problemsOfRecords(packed, paths.slice(1)), [notRun("no run of it", undefined, paths.slice(1))]);
  const missing = join(folder, "missing.json");
  assert.throws(() => problemsOfRecords(packed, [folder, missing]), {
    message: `there is no record of runs at ${missing}`,
  });
});

const REPORTED = [
  { file: "frazil-linux-x64-gnu-1.2.3.tgz", name: "frazil-linux-x64-gnu", platform: "linux-x64-gnu" },
  { file: "frazil-darwin-x64-1.2.3.tgz", name: "frazil-darwin-x64", platform: "darwin-x64" },
  { file: "frazil-1.2.3.tgz", name: "frazil" },
].map((each, at) => ({ ...each, version: "1.2.3", integrity: `sha512-${at}`, content: `content ${at}` }));
const folderFacts = () => ({
  folder: "out",
  report: { problems: [], commit: "c0ffee", packages: structuredClone(REPORTED) },
  head: "c0ffee",
  files: REPORTED.map(({ file, integrity }) => ({ name: file, integrity })),
});

refusals(problemsOfFolder, folderFacts, [
  [
    "no report",
    (facts) => ({ ...facts, report: undefined }),
    "out has no release.json: npm run release -- --dry-run --out out",
  ],
  [
    "a dry run that found reasons",
    (facts) => void facts.report.problems.push("one", "two"),
    "the dry run found reasons not to release:\none\ntwo",
  ],
  [
    "tarballs of another commit",
    (facts) => ({ ...facts, head: "decaf" }),
    "out was packed from c0ffee: this checkout is decaf. Pack again, or check that commit out",
  ],
  [
    "tarballs that are not in the report",
    (facts) => void facts.files.push({ name: "a.tgz", integrity: "a" }, { name: "b.tgz", integrity: "b" }),
    "a.tgz, b.tgz in out is not in the report",
  ],
  [
    "a tarball that is missing",
    (facts) => void facts.files.splice(1, 1),
    "out/frazil-darwin-x64-1.2.3.tgz is missing, which the report has",
  ],
  [
    "a tarball that was changed",
    (facts) => {
      facts.files[2].integrity = "sha512-changed";
    },
    "out/frazil-1.2.3.tgz has the integrity sha512-changed: the report has sha512-2",
  ],
]);

const tarballFacts = () => ({
  folder: "out",
  tarballs: structuredClone(REPORTED).map((reported) => ({
    reported,
    content: reported.content,
    manifest: {
      name: reported.name,
      version: reported.version,
      ...(reported.name === "frazil" && {
        optionalDependencies: { "frazil-linux-x64-gnu": "1.2.3", "frazil-darwin-x64": "1.2.3" },
      }),
    },
  })),
});

refusals(problemsOfTarballs, tarballFacts, [
  [
    "a tarball of another package",
    ({ tarballs }) => {
      tarballs[0].manifest.name = "other";
    },
    "out/frazil-linux-x64-gnu-1.2.3.tgz contains other 1.2.3: the report has frazil-linux-x64-gnu 1.2.3",
  ],
  [
    "a tarball of another version",
    ({ tarballs }) => {
      tarballs[2].manifest.version = "1.2.2";
    },
    "out/frazil-1.2.3.tgz contains frazil 1.2.2: the report has frazil 1.2.3",
  ],
  [
    "a report that leaves out a platform, so that no run would be asked for",
    ({ tarballs }) => void delete tarballs[1].reported.platform,
    "frazil-darwin-x64 is of the platform darwin-x64: the report has none",
  ],
  [
    "a platform package that says it is of another platform, which has run",
    ({ tarballs }) => {
      tarballs[1].reported.platform = "linux-x64-gnu";
    },
    "frazil-darwin-x64 is of the platform darwin-x64: the report has linux-x64-gnu",
  ],
  [
    "a frazil that says it is of a platform",
    ({ tarballs }) => {
      tarballs[2].reported.platform = "linux-x64-gnu";
    },
    "frazil is of the platform none: the report has linux-x64-gnu",
  ],
  [
    "a platform package of no platform that there is",
    ({ tarballs }) => {
      const reported = { ...tarballs[0].reported, name: "frazil-beos", file: "beos.tgz", platform: undefined };
      tarballs.push({ reported, content: reported.content, manifest: { name: "frazil-beos", version: "1.2.3" } });
    },
    "frazil-beos is of the platform none: the report has none",
  ],
  [
    "a report of a content that the tarball does not have",
    ({ tarballs }) => {
      tarballs[0].reported.content = "other";
    },
    "out/frazil-linux-x64-gnu-1.2.3.tgz has the content content 0: the report has other",
  ],
  [
    "a report without platform packages",
    ({ tarballs }) => void tarballs.splice(0, 2),
    "frazil depends on frazil-linux-x64-gnu 1.2.3, frazil-darwin-x64 1.2.3, which out does not have",
  ],
  [
    "a platform package of another version than the one that frazil depends on",
    ({ tarballs }) => {
      tarballs[2].manifest.optionalDependencies["frazil-darwin-x64"] = "1.2.4";
    },
    "frazil depends on frazil-darwin-x64 1.2.4, which out does not have",
  ],
  ["a report without frazil", ({ tarballs }) => void tarballs.pop(), "the report of out has no package frazil"],
]);

refusals(problemsOfPublished, () => REPORTED.map((each) => ({ ...each, published: undefined })), [
  [
    "what is published with the same content is no reason",
    (all) => {
      all[0].published = all[0].integrity;
    },
  ],
  [
    "a version that is published with another content",
    (all) => {
      all[0].published = "sha512-other";
    },
    "frazil-linux-x64-gnu 1.2.3 is published with the integrity sha512-other, and is sha512-0 here: must be another version",
  ],
]);

refusals(problemsOfProvenance, () => ({ provenance: true, repository: { repository: "https://github.com/a/b" } }), [
  [
    "provenance without the address of the repository",
    (facts) => ({ ...facts, repository: undefined }),
    "repository in package.json is not set: npm compares it with the workflow, for provenance",
  ],
  ["without provenance no address is needed", () => ({ provenance: false, repository: undefined })],
]);

test("a registry that does not answer is an error, and not a package that is missing", () => {
  const of = { name: "frazil", version: "1.2.3", registry: "http://127.0.0.1:9/" };
  const answer = (status, stdout, stderr = "") => publishedIn({ status, stdout, stderr }, of);
  assert.equal(answer(0, '"sha512-a"'), "sha512-a");
  assert.equal(answer(0, ""), undefined, "what npm says of a version that a known package does not have");
  assert.equal(answer(1, '{ "error": { "code": "E404" } }'), undefined);
  for (const stdout of ["", '{ "error": { "code": "ECONNREFUSED" } }', '"sha512-a"'])
    assert.throws(() => answer(1, stdout, "npm error"), {
      message: `http://127.0.0.1:9/ does not say whether frazil 1.2.3 is published:\n${stdout}npm error`,
    });
});

test("a version before the release is published under the tag next", () => {
  assert.equal(tagOf("7.0.0"), "latest");
  assert.equal(tagOf("7.0.0-beta.1"), "next");
});
