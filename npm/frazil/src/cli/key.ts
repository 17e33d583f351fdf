/** `npx frazil key`: makes keys of public IDs, and what is derived from one. */
import { getRandomValues } from "node:crypto";
import { show } from "../base/errors.js";
import { hintOf } from "../base/option-keys.js";
import { keyFacts } from "../public/facts.js";
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { KEY_FLAGS, keysOf, warnIfOthersRead } from "./keys.js";
import { complain, line } from "./output.js";
import { flagsOfStores, type OfStores, refuseOtherFlags } from "./stores.js";
import { shownArgument, UsageError } from "./usage-error.js";

const DERIVE = { command: "key derive", example: "key derive --kind usr --key-file id.key" };
const FINGERPRINT = { command: "key fingerprint", example: "key fingerprint --key-file id.key" };

async function printNew(): Promise<void> {
  const text = keyFacts(getRandomValues(new Uint8Array(16))).text;
  if (process.stdout.isTTY)
    await complain(
      "frazil: keep it as a password, and keep a copy: texts do not open without it\nhint: (umask 077; set -C; npx frazil key new > id.key) puts one into a new file that only you can read\n",
    );
  else await warnIfOthersRead(1);
  line(text);
}

async function printDerived(flags: Flags): Promise<void> {
  const { kind, form = "sealed" } = flags;
  if (kind === undefined) throw new UsageError(`key derive needs --kind\nnpx frazil ${DERIVE.example}`);
  if (form !== "sealed" && form !== "short") throw new UsageError(`--form must be sealed or short, got ${show(form)}`);
  const keys = await keysOf(DERIVE, flags);
  await warnIfOthersRead(1);
  for (const key of keys) line(keyFacts(key, kind, form).derived);
}

async function printFingerprints(flags: Flags): Promise<void> {
  for (const key of await keysOf(FINGERPRINT, flags)) line(keyFacts(key).fingerprint);
}

/** The actions, in the manner of the stores of other commands. */
const ACTIONS: OfStores<{ readonly act: (flags: Flags) => Promise<void> }> = {
  new: { flags: [], act: printNew },
  derive: { flags: ["kind", "form", ...KEY_FLAGS], act: printDerived },
  fingerprint: { flags: KEY_FLAGS, act: printFingerprints },
};

async function run(flags: Flags, [name = "", ...rest]: readonly string[]): Promise<number> {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  const names = Object.keys(ACTIONS).join(", ");
  if (name === "") throw new UsageError(`key needs one of ${names}\nnpx frazil key new`);
  if (action === undefined)
    throw new UsageError(`key has no ${shownArgument(name)}\n${hintOf(name.toLowerCase(), names)}`);
  if (rest.length > 0) throw new UsageError(`${rest.map(shownArgument).join(" ")} was not expected after key ${name}`);
  refuseOtherFlags("key", name, ACTIONS, flags);
  await action.act(flags);
  return 0;
}

export const key: Command = {
  name: "key",
  summary: "a new key of public IDs, and what is derived from one",
  usage: "new | derive | fingerprint",
  examples: [
    ["key new", "into a new file: (umask 077; set -C; npx frazil key new > id.key)"],
    [DERIVE.example, "the key of a kind in hexadecimal, for other languages"],
    [FINGERPRINT.example, "tells keys apart, and may be logged"],
  ],
  notes:
    "A key is never an argument, since other users of the machine can see those. What derive prints is secret: with it, the\ntexts of this kind and form open.",
  flags: flagsOfStores(ACTIONS),
  takesArguments: true,
  run,
};
