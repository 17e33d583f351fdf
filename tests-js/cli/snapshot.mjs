// The help, and what is said about mistakes. `node tests-js/cli/snapshot.mjs --update` writes what is said now.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMANDS, folder, frazil } from "./cli.mjs";

export const FILE = fileURLToPath(new URL("snapshot.txt", import.meta.url));

/** Command lines without quotes: each space ends an argument. */
export const COMMAND_LINES = {
  help: ["help", ...COMMANDS.map((command) => `help ${command}`)],
  mistakes: [
    "-V",
    "convert 1ptWyK4WgZU",
    "mint",
    "generate",
    "decod 1",
    "layout",
    "version",
    "NEXT",
    "Decode 5",
    "foo",
    "help foo",
    "175928847299117063",
    "175928847299117063n",
    "99999999999999999999",
    "-n 7",
    "--layuot twitter",
    "decode --layuot twitter 5",
    "decode -layout twitter 5",
    "decode -x 5",
    "decode -5",
    "decode --from signed -55",
    "decode --json=yes 5",
    "decode 5 --form hex",
    "decode 5 --from hexa",
    "decode 5 --as hex",
    "decode 5 -",
    "decode",
    "convert",
    "convert --as hex",
    "convert 5 - --as hex",
    "convert 5",
    "convert 5 --as Base62",
    "convert 5 --as base64",
    "convert 5 --to base62",
    "layouts twitter",
    "layouts --json --json",
    "next 5",
    "next -50",
    "next -c",
    "next twitter",
    "next --number 5",
    "next --Count 5",
    "next --format hex",
    "next --node 1 --node 2",
    "next -n 1 --node=2",
    "next -c 5 --count 6",
    "next --count 9007199254740993",
    "next --node worker=1,worker=2",
    "next --node {worker:x}",
    "next --count three",
    "next --count=-1",
    "next --node seven",
    "next --node",
    "next --node --json",
    "next --nodes 7",
    "next --node 7 --dir here",
    "next --node 7 --scope orders",
    "next --node 7 --accept-unproven-platform",
    "doctor --node 7 --dir here",
    "doctor --verbose",
    "range",
    "range 2026-11-01 2026-12-01",
    "range last month",
    "range twitter",
    "range --from 2026-11-01",
    "range --from 2026-11-01T00:00 --to now",
    "range --from 2026-02-30 --to now",
    "range --from yesterday --to now",
    "range --from -5 --to 4",
    "plan twitter",
    "plan --node 7",
    "plan --epoch 2024-01-01T00:00",
    "plan --epoch now",
    "plan --epoch 1735689600",
    "ddl",
    "ddl mongo",
    "ddl postgre",
    "ddl Postgres",
    "ddl pg --tag orders",
    "ddl zk --tag orders",
    "ddl postgres mysql",
    "ddl mysql --schema app",
    "ddl postgres --tag orders --scope orders",
    "ddl postgres --role a --role b",
    "ddl sqlite --tag orders",
    "ddl postgres --first 5",
    "ddl postgres --nodes 7",
  ],
  refusals: [
    "decode 12x",
    "decode 012n",
    "decode 9223372036854775808",
    "decode 99999999999999999999",
    "decode -- -5",
    "decode --from signed -- -5",
    "decode 0x1565a11f6217a000",
    "decode 0xFFFFFFFFFFFFFFFF",
    "decode 1ptWyK4WgZU -l twitter --epoch 2010-11-04",
    "decode 1.541815603606036e+18",
    "decode 6f6a1f0c-9d2b-4b7e-8c39-0a1b2c3d4e5f",
    "decode ids.txt",
    "decode missing.txt",
    "decode discord",
    "convert --as hex -- -5",
    "convert ids.txt --as hex",
    "convert 1ptWyK4WgZU --as hex",
    "decode https://x.com/user/status/1541815603606036480 -l twitter",
    "convert --from hex 0xFF",
    "convert --from hex FF",
    "convert --from base62 zzzzzzzzzzz",
    "next --node 1024",
    "next -n 5000",
    "next -l twitter --node worker=1",
    "range --from 5 --to 4",
    "range --from 5 --to 6 --layout seata",
    "range --from 5 --to 6 --node 7",
    "plan --layout tweeter",
    "ddl postgres --tag o'orders",
  ],
};

/** A file that some of them name. */
writeFileSync(join(folder, "ids.txt"), "1541815603606036480\n");

/** The arguments of a command line. */
export const argumentsOf = (line) => line.split(" ");

/** What each command line prints. */
export async function snapshot() {
  const texts = [];
  for (const line of Object.values(COMMAND_LINES).flat()) {
    const { stdout, stderr, code } = await frazil(argumentsOf(line));
    texts.push(`$ npx frazil ${line}\n${stdout}${stderr}[${code}]\n`);
  }
  return texts.join("\n");
}

if (process.argv.includes("--update")) writeFileSync(FILE, await snapshot());
