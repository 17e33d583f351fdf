// The workflows are valid for the parser of GitHub Actions, call only scripts of this repository, and cover every platform.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import * as esbuild from "esbuild";
import { packages } from "../../scripts/packages.mjs";
import { emptyFolder, root } from "./tarballs.mjs";

// GitHub's parser imports JSON as only bundlers do.
const outfile = join(emptyFolder("workflow-parser"), "parser.cjs");
esbuild.buildSync({
  entryPoints: ["@actions/workflow-parser"],
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "cjs",
  outfile,
});
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = createRequire(import.meta.url)(outfile);

const folder = join(root, ".github/workflows");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A workflow as the parser of GitHub reads it. Throws with what the parser objects to. */
async function parsed(name, content) {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  const template = value && (await convertWorkflowTemplate(context, value));
  const errors = [...context.errors.getErrors(), ...(template?.errors ?? [])].map(({ message }) => message);
  if (errors.length > 0) throw new Error(`${name}: ${[...new Set(errors)].join("; ")}`);
  return template;
}

/** Why a command of a step is none that a person can run in a checkout, or `undefined`. */
function problemOf(command) {
  const words = command.replaceAll(/\$\{\{.*?\}\}/g, "VALUE").split(" ");
  if (/[\n;&|]/.test(command)) return "it is more than one command: make it a script";
  if (words[0] === "npm" && words[1] === "run") {
    const script = scripts[words[2]];
    if (script === undefined) return `package.json has no script ${words[2]}`;
    const [, file] = /^node (\S+)/.exec(script) ?? [];
    return existsSync(join(root, file)) ? undefined : `there is no ${file}`;
  }
  if (words[0] === ".github/alpine") return problemOf(words.slice(1).join(" "));
  return words.length === 1 && existsSync(join(root, words[0])) ? undefined : "it is no script of this repository";
}

const workflows = readdirSync(folder).map((name) => ({ name, content: readFileSync(join(folder, name), "utf8") }));

/** The workflows that no commit or release must pass, and how many steps each has at least. */
const APART = { "advisories.yml": 3, "site.yml": 6 };

test("there is a workflow for changes, one for releases, one for advisories, and one for the site", () => {
  assert.deepEqual(workflows.map(({ name }) => name).sort(), ["advisories.yml", "ci.yml", "release.yml", "site.yml"]);
});

test("advisories are no part of what a commit or a release must pass, and are asked for without a commit", async () => {
  const { content } = workflows.find(({ name }) => name === "advisories.yml");
  assert.match(content, /^on:\n {2}schedule:\n {4}- cron: "[\d *]+"\n {2}workflow_dispatch:\n/m);
  for (const { name, content } of workflows)
    assert.equal(content.includes("npm run advisories"), name === "advisories.yml", name);
});

for (const { name, content } of workflows) {
  test(`${name} is valid, and its steps are scripts or actions at a commit`, async () => {
    const { jobs } = await parsed(name, content);
    // A job that is a workflow of this repository has no steps here.
    const steps = jobs.flatMap(({ steps }) => steps ?? []);
    assert.ok(steps.length >= (APART[name] ?? 10));
    for (const step of steps) {
      if (step.run === undefined) continue;
      const command = step.run.toDisplayString?.() ?? String(step.run);
      const source = step.run.source ?? command;
      assert.equal(problemOf(source), undefined, `${name}: ${source}`);
    }
    const called = [...content.matchAll(/uses: \.\/\.github\/workflows\/(.*)$/gm)].map(([, called]) => called);
    assert.deepEqual(called, name === "release.yml" ? ["ci.yml"] : []);
    assert.equal(called.length, jobs.filter(({ steps }) => steps === undefined).length);
    const used = [...content.matchAll(/uses: (?!\.\/)(.*)$/gm)].map(([, action]) => action);
    assert.equal(used.length, steps.filter(({ uses }) => uses !== undefined).length);
    for (const action of used) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, action);
    // A commit that is pinned in one place and forgotten in another.
    const commits = new Map();
    for (const [action, commit] of workflows.flatMap(({ content }) =>
      [...content.matchAll(/uses: (.*)@(.*)$/gm)].map(([, ...pair]) => pair),
    )) {
      assert.equal(commits.get(action) ?? commit, commit, action);
      commits.set(action, commit);
    }
  });

  if (name in APART) continue;
  test(`${name} runs on every platform that has a platform package`, () => {
    const run = [...content.matchAll(/\{ name: ([\w-]+), runner: [\w.-]+ \}/g)].map(([, platform]) => platform);
    assert.equal(new Set(run).size, run.length);
    const platformPackages = packages().filter(({ isPlatform }) => isPlatform);
    for (const { folder } of platformPackages) assert.ok(run.includes(folder), folder);
  });
}

test("only the jobs that publish may ask for a token of the workflow, and they come after the tests", async () => {
  const { content } = workflows.find(({ name }) => name === "release.yml");
  const { jobs } = await parsed("release.yml", content);
  const publishing = jobs.filter(({ steps = [] }) =>
    steps.some(({ run }) => /release -- --packed|release:crates/.test(String(run?.source ?? run))),
  );
  assert.deepEqual(
    publishing.map(({ id }) => String(id)),
    ["npm", "crates"],
  );
  const texts = content.split(/^ {2}(?=\w+:$)/m).slice(1);
  for (const text of texts) {
    const [, id] = /^(\w+):/.exec(text);
    assert.equal(text.includes("id-token: write"), ["npm", "crates"].includes(id), id);
  }
  assert.match(
    texts.find((text) => text.startsWith("npm:")),
    /needs: \[ci, pack, platform, alpine\]/,
  );
  assert.match(
    texts.find((text) => text.startsWith("crates:")),
    /needs: npm/,
  );
  assert.doesNotMatch(content, /secrets\./);
  // What runs on the platforms is what is published.
  const runs = content.match(/npm run test:platform .*/g);
  assert.equal(runs.length, 2);
  for (const run of runs) assert.match(run, / --packed tarballs$/);
});

for (const [name, content, message] of [
  [
    "a key that is misspelt",
    "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    step:\n      - run: npm test\n",
    /Unexpected value 'step'/,
  ],
  [
    "an unknown context",
    "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: npm test $" + "{{ matrx.a }}\n",
    /matrx/,
  ],
  [
    "a job that needs one that is not there",
    "on: push\njobs:\n  c:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: npm test\n  a:\n    needs: b\n    runs-on: ubuntu-24.04\n    steps:\n      - run: npm test\n",
    /'b'/,
  ],
]) {
  test(`the parser finds ${name}`, async () => {
    await assert.rejects(parsed("broken.yml", content), { message });
  });
}

test("a step that is no script is found", () => {
  assert.equal(problemOf("npm run no-such-script"), "package.json has no script no-such-script");
  assert.equal(problemOf(".github/alpine npm run no-such-script -- x"), "package.json has no script no-such-script");
  assert.equal(problemOf("npm run build && curl example.org"), "it is more than one command: make it a script");
  assert.equal(problemOf("curl example.org"), "it is no script of this repository");
  assert.equal(problemOf("scripts/gone.sh"), "it is no script of this repository");
  assert.equal(problemOf(".ci/run"), undefined);
  assert.equal(problemOf("npm run build"), undefined);
});
