// The numbers that processes have drawn, by their files, and whether they are as a store of segments promises.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const TAG_SHIFT = 48n;

/** A number of a tag as one number, so that numbers of two tags differ. */
export const encoded = (tag, number) => (BigInt(tag) << TAG_SHIFT) | number;

/** The lives of processes in the files of a folder: the numbers of each tag in their order, and the attempts. */
function livesIn(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => {
      const drawn = new Map();
      const bytes = readFileSync(join(folder, name.replace(".log", ".ids")));
      // A process that was killed during a write can leave part of an entry at the end.
      for (const value of new BigUint64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8))) {
        const tag = `tag-${value >> TAG_SHIFT}`;
        if (!drawn.has(tag)) drawn.set(tag, []);
        drawn.get(tag).push(value & ((1n << TAG_SHIFT) - 1n));
      }
      const attempts = new Map();
      for (const line of readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1)) {
        const { tag, holder, attempt, first, count } = JSON.parse(line);
        if (!attempts.has(attempt)) attempts.set(attempt, { tag, holder, answers: [] });
        if (first !== undefined) attempts.get(attempt).answers.push({ first: BigInt(first), count });
      }
      return { name, drawn, attempts };
    });
}

/** How many numbers an attempt skips where the store is another one than before. */
const skipOf = (attempt, failoverSkip) =>
  failoverSkip + Math.floor((failoverSkip * Number.parseInt(attempt.slice(0, 8), 16)) / 2 ** 32);

/**
 * How many times and numbers of a hole were skipped, if the rest is of at most this many whole ranges. The attempt that skipped is that of
 * the range behind the hole, or one without an answer, or the retry of one whose range is elsewhere.
 */
function skippedIn(hole, ids, { step, failoverSkip, ranges }) {
  if (hole % step === 0 && hole <= ranges * step) return { times: 0, numbers: 0 };
  for (const id of ids) {
    const numbers = skipOf(id, failoverSkip);
    const rest = hole - numbers;
    const more = rest >= 0 && skippedIn(rest, ids, { step, failoverSkip, ranges });
    if (more) return { times: more.times + 1, numbers: more.numbers + numbers };
  }
  return undefined;
}

/**
 * What is wrong with numbers that were drawn: a list of sentences. `records`: what the store has for each tag at the end, `next` and
 * `recent`. `step`: how long each range is. `batch`: how many numbers a process may have drawn and not written when it is killed.
 * `skips`: how many times the store may have skipped `failoverSkip` numbers or more.
 */
export function problemsOf(folder, { records, step, batch, failoverSkip, skips }) {
  const problems = [];
  const lives = livesIn(folder);
  const perTag = new Map([...records.keys()].map((tag) => [tag, { ranges: [], unanswered: [] }]));
  const attempts = new Map();
  let unused = 0;
  for (const { name, drawn, attempts: own } of lives) {
    const granted = new Map();
    for (const [id, { tag, holder, answers }] of own) {
      attempts.set(id, { holder, answers });
      if (answers.length === 0) {
        perTag.get(tag).unanswered.push(id);
        continue;
      }
      const [range] = answers;
      if (answers.some(({ first, count }) => first !== range.first || count !== range.count))
        problems.push(`${name}: an attempt of ${tag} was answered with two ranges`);
      perTag.get(tag).ranges.push({ id, ...range });
      if (!granted.has(tag)) granted.set(tag, []);
      for (let at = 0; at < range.count; at++) granted.get(tag).push(range.first + BigInt(at));
    }
    for (const [tag, numbers] of granted) {
      const used = drawn.get(tag) ?? [];
      const wrong = used.findIndex((number, at) => number !== numbers[at]);
      if (wrong >= 0) problems.push(`${name}: ${tag}: ${used[wrong]} was drawn in the place of ${numbers[wrong]}`);
      // Two ranges, and what it had drawn and not written yet.
      const left = numbers.length - used.length;
      if (left > 2 * step + batch) problems.push(`${name}: ${tag}: ${left} numbers were left when it ended`);
      unused += left;
    }
  }
  let lostWithTheAnswer = 0;
  let skipped = 0;
  for (const [tag, { next, recent }] of records) {
    const { ranges, unanswered } = perTag.get(tag);
    ranges.sort((a, b) => (a.first < b.first ? -1 : 1));
    let end = 1n;
    let [lost, skippedHere] = [0, 0];
    for (const { id, first, count } of [...ranges, { first: next, count: 0 }]) {
      if (first < end) problems.push(`${tag}: the numbers from ${first} on were allocated twice`);
      const hole = Math.max(0, Number(first - end));
      const ids = [...(id ? [id] : []), ...unanswered, ...ranges.map((range) => range.id)];
      const skipped = skippedIn(hole, ids, { step, failoverSkip, ranges: unanswered.length });
      skippedHere += skipped?.times ?? 0;
      lost += (hole - (skipped?.numbers ?? 0)) / step;
      if (first + BigInt(count) > end) end = first + BigInt(count);
    }
    // An attempt without an answer is one of a process that has ended: others repeat it until they have one.
    if (!Number.isInteger(lost) || lost > unanswered.length)
      problems.push(`${tag}: ${lost} ranges belong to nobody, and ${unanswered.length} attempts had no answer`);
    if (skippedHere > skips) problems.push(`${tag}: ${skippedHere} times ${failoverSkip} numbers are missing`);
    lostWithTheAnswer += lost;
    skipped += skippedHere;
    for (const { holder, attempt, first, count } of recent) {
      const { holder: asked, answers = [] } = attempts.get(attempt) ?? {};
      const isSame = asked === holder && answers.every((answer) => answer.first === first && answer.count === count);
      if (!isSame) problems.push(`${tag}: the record has a range that no process asked for`);
    }
  }
  return {
    problems,
    lives: lives.length,
    ranges: [...perTag.values()].flatMap(({ ranges }) => ranges).length,
    unused,
    lostWithTheAnswer,
    skipped,
  };
}
