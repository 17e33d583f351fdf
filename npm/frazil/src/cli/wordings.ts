/** What the messages of the package tell programs to do, in the words of the command line. */

/** What a person at the command line does instead, or nothing where there is no such thing. Each is in a message of the package. */
export const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [/\. Take node ids from a store, with await lease\(store\).*$/s, ". Give one that no other process uses: --node N"],
  [/^Snowflake\.local\(\) is proven/, "the state file is proven"],
  [
    /\. Write new Snowflake\(\{ node \}\) for one process.*$/s,
    ". Give a node id that no other process uses: --node N. Or accept the risk: --accept-unproven-platform",
  ],
  [/\. If [^.]*, say so with fileSystem: .*$/s, ""],
  [/, or raise startWaitMs: .*$/s, ""],
  [/\. In Workers, mint in a request/, ""],
  [/\. In tests, use the option now or frazil\/testing \(docs\/guides\/testing\.md\)(, or move it on)?/, ""],
  [/^dir must be (given|an absolute)/, "--dir must be $1"],
  [/\{ (?:sql|lua) \} with (an? \w+ expression)/, "$1"],
  [/must be digits without sign, blanks, leading zeros or n/, "must be digits without sign or leading zeros"],
  [/^node is undefined: must be given(?=: it lies above the time)/, "--node N must be given"],
];

/** An option to pass, such as "pass another node, or a shorter dir". */
const OPTION = /\b(pass|or) ((?:an?|another) (?:(?:shorter|earlier|later) )?)(dir|node|layout|epoch)(?:Ms)?\b(?! id)/gi;
/** The option at fault, which the package puts first. The parts that it names are not those of the command line. */
const AT_FAULT: readonly (readonly [RegExp, string])[] = [
  [/^(dir|scope|node|layout|schema|database|prefix|incarnation|tag)(?= is )/, "--$1"],
  [/^nodes\.(?:from|to)(?= is )/, "--nodes: an end"],
  [/^windowMaxMs(?= is )/, "--window-max"],
  // With --epoch it is there.
  [/^epochMs(?= is undefined)/, "epochMs in --layout"],
  [/^epochMs(?= is )/, "--epoch"],
  [/^nodeIdsFrom\.[\w.]*(?= is )/, "--node-ids-from: the name"],
];
const VERBS: { readonly [verb: string]: string } = { pass: "give", Pass: "Give" };

/** A message of the package, as it is told at the command line. */
export const reworded = (message: string): string =>
  [...WORDINGS, ...AT_FAULT]
    .reduce((text, [words, ours]) => text.replace(words, ours), message)
    .replace(OPTION, (_, verb: string, which: string, name: string) => `${VERBS[verb] ?? verb} ${which}--${name}`);
