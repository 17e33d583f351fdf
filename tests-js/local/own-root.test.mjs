// The tests of state files run below their own root directory (scripts/test/own-root.mjs), so another program that locks `/` and `/tmp`
// cannot block their files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { withMounts } from "./child-process.mjs";

const ownRoot = [process.execPath, fileURLToPath(new URL("../../scripts/test/own-root.mjs", import.meta.url))];

/** Opens a state file, and prints an ID or the code of the refusal. */
const OPEN = `
  const { Snowflake } = require("frazil");
  try {
    console.log(Snowflake.local({ dir: require("node:os").tmpdir() + "/state" }).nextString());
  } catch (error) {
    console.log(error.code);
  }
`;
/** Runs a program while it holds a shared lock on all bytes of the directories, as every user may who can read them. */
const LOCK = `
  use Fcntl;
  my @held;
  for my $path ("/", $ENV{TMPDIR}) {
    open(my $directory, "<", $path) or die $!;
    my $lock = pack("s s x4 q q l x4", F_RDLCK, 0, 0, 0, 0);
    fcntl($directory, F_SETLK, $lock) or die $!;
    push @held, $directory;
  }
  exit(system(@ARGV) >> 8);
`;

/** What a program prints below a root of its own, whose directories another program has locked. */
function besideLocks(command) {
  const [program, ...args] = [...ownRoot, "perl", "-e", LOCK, ...command];
  return execFileSync(program, args, { cwd: dirname(fileURLToPath(import.meta.url)), encoding: "utf8" });
}

test("a program that locks / and the temporary folder stops no test of a state file", withMounts, () => {
  const open = [process.execPath, "-e", OPEN];
  assert.match(besideLocks([...ownRoot, ...open]), /^\d{18}\n$/);
  assert.equal(besideLocks(open), "STATE_CONFLICT\n", "the program must stop what shares its root");
});
