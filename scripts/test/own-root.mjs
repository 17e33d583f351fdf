// `node own-root.mjs PROGRAM ARGUMENT…`: runs a program below its own root directory, with its own empty temporary folder on a disk;
// everything else is there as it is. A state file takes locks on all directories above it, and another program that locks `/` or `/tmp`
// keeps each of them from being opened. Where mounting is not allowed, the program runs as it is.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask } from "../shell.mjs";

const isRoot = process.getuid?.() === 0;
// A user who is not root stays this user, and may mount until the program starts.
const unshare = ["unshare", ...(isRoot ? [] : ["--map-current-user", "--keep-caps"]), "--mount"];
const dropped = isRoot ? [] : ["setpriv", "--inh-caps=-all", "--ambient-caps=-all"];

const SCRIPT = `set -e
folder=$1; cwd=$2; shift 2
mount -t tmpfs -o mode=755 none "$folder/root"
for path in /* /.[!.]*; do
  name=$folder/root$path
  if [ -L "$path" ]; then cp --no-dereference "$path" "$name"
  elif [ -d "$path" ]; then mkdir "$name"; mount --rbind "$path" "$name"
  elif [ -e "$path" ]; then : > "$name"; mount --bind "$path" "$name"
  fi
done
mkdir -p "$folder/root/temporary"
mount --bind "$folder/temporary" "$folder/root/temporary"
cd "$folder/root"
pivot_root . .
umount --lazy .
cd "$cwd"
TMPDIR=/temporary exec "$@"`;

const folder = mkdtempSync(join(tmpdir(), "frazil-own-root-"));
const [newRoot, temporary] = ["root", "temporary"].map((name) => join(folder, name));
mkdirSync(newRoot);
mkdirSync(temporary);
// Tests run programs as another user too.
chmodSync(temporary, 0o1777);
const inOwnRoot = [...unshare, "sh", "-c", SCRIPT, "sh", folder, process.cwd(), ...dropped];
const isAllowed = ask(inOwnRoot[0], [...inOwnRoot.slice(1), "true"]) !== undefined;

const [program, ...args] = [...(isAllowed ? inOwnRoot : []), ...process.argv.slice(2)];
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.once("close", (status) => {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    // Something that the program has started may still write there. The outcome of the program counts.
    process.stderr.write(`${folder} stays: ${error.message}\n`);
  }
  // A signal is no failed test.
  process.exit(status ?? 2);
});
