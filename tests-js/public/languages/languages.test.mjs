// The code for other languages in docs/guides/public-ids.md seals and opens each ID of the vectors, and refuses each text that is refused
// there. `crates/reference/public.py`, which writes the vectors, still writes the same.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { tools } from "../../../scripts/tools.mjs";
import { blocksOf, root, textOf } from "../../pages/examples.mjs";
import { PostgresServer } from "../../stores/postgres/server.mjs";

const vectors = JSON.parse(readFileSync(join(root, "crates/core/vectors/public.json"), "utf8"));
const pageBlocks = blocksOf(textOf("docs/guides/public-ids.md"));
const codeIn = (language) => pageBlocks.find((block) => block.language === language && /seal/.test(block.code)).code;

const folder = mkdtempSync(join(tmpdir(), "frazil-languages-"));
after(() => rmSync(folder, { recursive: true }));
const driver = (name) => fileURLToPath(new URL(name, import.meta.url));
const inherited = { cwd: folder, maxBuffer: 2 ** 26, stdio: ["pipe", "pipe", "inherit"] };
const python = { ...process.env, PYTHONPATH: tools.cryptography, PYTHONDONTWRITEBYTECODE: "1" };

const derivedOf = (key, kind) =>
  vectors.derived.find((row) => row.key === key && row.label === "frazil sealed" && row.kind === kind)?.derived;

/** The calls that the vectors ask for, and their answers. Texts of other layouts only are left out: this code knows no layouts. */
const cases = [
  ...vectors.sealed.flatMap(({ key, kind, id, text }) => [
    { call: "seal", key: derivedOf(key, kind), value: id, answer: text },
    { call: "open", key: derivedOf(key, kind), value: text, answer: id },
  ]),
  ...vectors.refusedSealed
    .filter(({ why }) => why !== "id")
    .flatMap(({ keys, kind, text }) =>
      keys.map((key) => ({ call: "open", key: derivedOf(key, kind), value: text, answer: "refused" })),
    )
    .filter(({ key }) => key !== undefined),
];

/** What a program answers to lines, which name a call, a key and an ID or text. */
function answersOf(program, args, options) {
  const lines = cases.map(({ call, key, value }) =>
    [call, key, call === "seal" ? value : Buffer.from(value).toString("hex")].join(" "),
  );
  const input = `${lines.join("\n")}\n`;
  return execFileSync(program, args, { ...inherited, ...options, input, encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

const LANGUAGES = {
  python: {
    check: "if seal_id(id, key) == text else None",
    unchecked: "",
    run(code) {
      writeFileSync(join(folder, "program.py"), `${code}\n${readFileSync(driver("driver.py"), "utf8")}`);
      return answersOf("python3", ["program.py"], { env: python });
    },
  },
  go: {
    check: "sealed != text",
    unchecked: 'sealed == ""',
    run(code) {
      copyFileSync(driver("driver.go"), join(folder, "driver.go"));
      writeFileSync(join(folder, "ids.go"), `package main\n\n${code}`);
      const env = { ...process.env, GO111MODULE: "off", GOFLAGS: "", GOCACHE: join(root, ".cache/go") };
      return answersOf(tools.go, ["run", "ids.go", "driver.go"], { env });
    },
  },
  java: {
    check: "seal(id, key).equals(text) ?",
    unchecked: "true ?",
    run(code) {
      writeFileSync(join(folder, "PublicIds.java"), code);
      execFileSync(tools.javac, ["-d", ".", "PublicIds.java", driver("Driver.java")], inherited);
      return answersOf(join(tools.javac, "../java"), ["-cp", ".", "Driver"]);
    },
  },
  sql: {
    check: "WHERE seal_id(id, key) = sealed",
    unchecked: "",
    async run(code) {
      const server = await PostgresServer.start();
      try {
        await server.query(`CREATE EXTENSION pgcrypto;\n${code}`);
        const calls = cases.map(({ call, key, value }) => ({
          call,
          key,
          value: call === "seal" ? String(BigInt.asIntN(64, BigInt(value))) : value,
        }));
        const rows = await server.query(
          `SELECT CASE call WHEN 'seal' THEN seal_id(CASE call WHEN 'seal' THEN value END::bigint, decode(key, 'hex'))
             ELSE open_id(value, decode(key, 'hex'))::text END AS answer
           FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS calls (call, key, value, at) ORDER BY at`,
          // A text of Postgres has no NUL.
          ["call", "key", "value"].map((name) => calls.map((call) => call[name].replaceAll("\0", "\x01"))),
        );
        return rows.map(({ answer }, at) => {
          if (answer === null) return "refused";
          return cases[at].call === "open" ? String(BigInt.asUintN(64, BigInt(answer))) : answer;
        });
      } finally {
        await server.stop();
      }
    },
  },
};

/** The cases in which a language answers otherwise. */
const wrong = (answers) =>
  cases.flatMap((each, at) => (answers[at] === each.answer ? [] : [{ ...each, given: answers[at] }]));

test("there are cases of each kind", () => {
  const count = (call, isRefused) =>
    cases.filter((each) => each.call === call && (each.answer === "refused") === isRefused).length;
  assert.ok(count("seal", false) > 80 && count("open", false) > 80 && count("open", true) > 140);
});

for (const [language, { run, check, unchecked }] of Object.entries(LANGUAGES)) {
  test(`${language} seals, opens and refuses as the vectors say`, async () => {
    assert.deepEqual(wrong(await run(codeIn(language))), []);
  });
  test(`${language} without its check opens what is refused, and is found`, async () => {
    const code = codeIn(language).replace(check, unchecked);
    assert.notEqual(code, codeIn(language));
    const found = wrong(await run(code));
    assert.ok(found.length > 100 && found.every(({ answer }) => answer === "refused"), `${found.length}`);
  });
}

test("Python's cryptography still gives the vectors", () => {
  execFileSync("python3", [join(root, "crates/reference/public.py"), "--check"], { ...inherited, env: python });
});
