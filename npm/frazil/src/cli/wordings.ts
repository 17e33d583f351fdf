/** The package's advice to programs, in the words of the command line. */

/** The command-line counterpart of each phrase, or nothing if there is none. Each phrase is in a message of the package. */
export const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [/ Take node ids from a store, with await lease\(store\).*$/, " Give one that no other process uses: --node N"],
  [/^Snowflake\.local\(\) is proven/, "the state file is proven"],
  [
    / Write new Snowflake\(\{ node \}\) for one process.*$/,
    " Give a node id that no other process uses: --node N. Or accept the risk: --accept-unproven-platform",
  ],
  [/ If [^.]*, say so with fileSystem: .*$/, ""],
  [/ ?Or raise startWaitMs: .*$/, ""],
  [/ In Workers, mint in a request\./, ""],
  [/ ?In tests, use the option now or frazil\/testing(, or advance the clock)?\./, ""],
  [/must be a key of `(npx frazil key new)`, or 16 random bytes/, "must be a key of $1"],
  [/^dir must be (given|an absolute)/, "--dir must be $1"],
  [/\{ (?:sql|lua) \} with (an? \w+ expression)/, "$1"],
  [/must be decimal digits, without sign, spaces, leading zeros or n/, "must be digits without sign or leading zeros"],
  [
    /Pass \{ (\w+(?:, \w+)+) \}, or a number\./,
    "Give the number of each part ($1) by its name, as in datacenter=3,worker=17, or one number.",
  ],
  [
    /Pass the layout of your IDs with its own epoch, such as .*, or one with more bits of time,/,
    "Give the epoch of your IDs by --epoch, or a --layout with more bits of time,",
  ],
  [
    /^node must be given, since it lies above the time, got undefined/,
    "--node N must be given, since it lies above the time",
  ],
];

/** An option to pass, such as "pass another node, or a shorter dir". */
const OPTION =
  /\b(pass|or|and) ((?:an?|another) (?:(?:shorter|earlier|later) )?)(dir|node|layout|epoch)(?:Ms)?\b(?! id)/gi;
/** The option at fault, which comes first in the package's messages, where its parts have other names than on the command line. */
const AT_FAULT: readonly (readonly [RegExp, string])[] = [
  [/^(dir|scope|node|layout|schema|database|prefix|incarnation|tag)(?= must )/, "--$1"],
  [/^nodes\.(?:from|to)(?= must )/, "--nodes: an end"],
  [/^windowMaxMs(?= must )/, "--window-max"],
  [/^from must not be after to, which is (\d+), got (\d+)$/, "--from must not be after --to, got $2 and $1"],
  [/^(from|to)(?= must )/, "--$1"],
  // With --epoch it is present.
  [/^epochMs(?= must .*, got undefined$)/, "epochMs in --layout"],
  [/^epochMs(?= must )/, "--epoch"],
  [/^nodeIdsFrom\.[\w.]*(?= must )/, "--node-ids-from: the name"],
];
const VERBS: { readonly [verb: string]: string } = { pass: "give", Pass: "Give" };

/** A message or a hint of the package, for the command line. */
export const reworded = (message: string): string =>
  [...WORDINGS, ...AT_FAULT]
    .reduce((text, [words, ours]) => text.replace(words, ours), message)
    .replace(OPTION, (_, verb: string, which: string, name: string) => `${VERBS[verb] ?? verb} ${which}--${name}`);
