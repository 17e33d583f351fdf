// docs/guides/audit.md: its commands as printed, with a Postgres and DuckDB, and what it says of findings and of chance.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { tools } from "../../scripts/tools.mjs";
import { program } from "../cli/cli.mjs";
import { blocksOf, textOf } from "../pages/examples.mjs";
import { PostgresServer, program as postgresProgram } from "../stores/postgres/server.mjs";
import { certaintyOf } from "./command.mjs";
import { withFolder, writeIncident } from "./files.mjs";
import { incident, NAMES } from "./incidents.mjs";

const run = promisify(execFile);
const page = textOf("docs/guides/audit.md");
const commands = blocksOf(page).filter(({ language }) => language === "sh");
const [screen] = blocksOf(page).filter(({ language }) => language === "text");

/** Runs a script in a shell whose `npx` and `duckdb` are those of this repository. Returns what it prints, and its exit code. */
async function shell(script, { folder, url = "" }) {
  const head = `set -o pipefail
PATH="$(dirname "${postgresProgram("psql")}"):$PATH"
npx() { [ "$1" = frazil ] && shift && "${process.execPath}" "${program}" "$@"; }
duckdb() { PYTHONPATH="${tools.sqlEngines}" python3 -c 'import duckdb, sys; duckdb.sql(sys.argv[2])' "$@"; }
`;
  const env = { ...process.env, DATABASE_URL: url };
  try {
    const { stdout, stderr } = await run("bash", ["-c", `${head}${script}`], { cwd: folder, env });
    return { stdout, stderr, code: 0 };
  } catch ({ stdout, stderr, code }) {
    return { stdout, stderr, code };
  }
}

describe("the commands", { concurrency: 1 }, () => {
  const made = incident("a node id of two hosts", { count: 20_000 });
  const { hosts, rows } = made;
  let postgres;
  before(async () => {
    postgres = await PostgresServer.start();
    await postgres.query("CREATE TABLE orders (id bigint PRIMARY KEY, host text, created_at timestamptz)");
    const columns = [
      Array.from(rows.ids, String),
      Array.from(rows.hosts, (host) => hosts[host]),
      Array.from(rows.writtenMs, (ms) => new Date(ms).toISOString()),
    ];
    const unnested = "unnest($1::bigint[], $2::text[], $3::timestamptz[])";
    await postgres.query(`INSERT INTO orders SELECT * FROM ${unnested}`, columns);
  });
  after(() => postgres?.stop());

  const isFound = ({ stdout, stderr, code }) => {
    assert.equal(code, 1, `${stdout}${stderr}`);
    assert.ok(stdout.endsWith(screen.code), stdout);
  };

  test("there are two commands", () => assert.equal(commands.length, 2));

  test("psql: the screen ends as on the page", () =>
    withFolder(async (folder) => isFound(await shell(commands[0].code, { folder, url: postgres.url }))));

  test("DuckDB: the same from Parquet", () =>
    withFolder(async (folder) => {
      const path = writeIncident(made, folder);
      const copy = `COPY (SELECT * FROM '${path}') TO 'orders.parquet' (FORMAT parquet)`;
      assert.equal((await shell(`duckdb -c "${copy}"`, { folder })).code, 0);
      isFound(await shell(commands[1].code, { folder }));
    }));
});

describe("the findings", () => {
  const rows = [...page.matchAll(/^\| (`\w+`.*?) \|/gm)].map(([, cell]) => cell);
  const kindsIn = (cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, kind]) => kind);

  test("the page says of each kind what it is, unless it is exact", () => {
    for (const cell of rows)
      for (const kind of kindsIn(cell)) assert.equal(/: (\w+)$/.exec(cell)?.[1] ?? "exact", certaintyOf(kind), kind);
  });

  test("it has every kind of the incidents, and no other ones but those of limits", () => {
    const found = NAMES.flatMap((name) => incident(name, { count: 5000 }).expected.map(({ kind }) => kind));
    assert.deepEqual(rows.flatMap(kindsIn).toSorted(), [...new Set([...found, "capped"])].toSorted());
  });
});

test("37 instances share one of 961 pairs in every second deployment, and 38 of 1,024", () => {
  const chance = (instances, numbers) => {
    let none = 1;
    for (let taken = 0; taken < instances; taken++) none *= 1 - taken / numbers;
    return 1 - none;
  };
  assert.ok(chance(37, 961) > 0.5 && chance(36, 961) < 0.5);
  assert.ok(chance(38, 1024) > 0.5 && chance(37, 1024) < 0.5);
  for (const number of ["37", "961", "1,024", "38"]) assert.ok(page.includes(number), number);
});
