// `npm run bench -- public`, at its end: the shares of made-up texts that open, which docs/guides/public-ids.md has in a table.
//
// - **A made-up text** has the length of a text of an ID, and random characters of the digits and letters that such texts have.
// - **It opens** if it is read as one number that the package can write; **canonical** if that number has this text.
import { randomInt } from "node:crypto";
import { Layout } from "frazil";
import { DEFAULTS } from "../../tests-js/bench/peers/texts.mjs";

const COUNT = 1_000_000;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const madeUp = (length) => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
const share = (count) => `${((100 * count) / COUNT).toPrecision(2)} %`;

/** An ID of the default layout, of ten years from 2026 on. */
const layout = Layout.named("default");
const idOf = () => layout.minIdAt(1_780_000_000_000 + randomInt(315_360_000_000)) + BigInt(randomInt(2 ** 22));

for (const [name, { inputOf, ids }] of Object.entries(DEFAULTS)) {
  const lengths = Array.from({ length: 1000 }, () => ids.encode([inputOf(idOf())]).length);
  let [opened, canonical] = [0, 0];
  for (let at = 0; at < COUNT; at++) {
    const text = madeUp(lengths[at % lengths.length]);
    let numbers = [];
    try {
      numbers = ids.decode(text);
    } catch {
      // Hashids throws at some texts.
    }
    if (numbers.length !== 1 || (typeof numbers[0] === "number" && !Number.isSafeInteger(numbers[0]))) continue;
    opened++;
    if (ids.encode(numbers) === text) canonical++;
  }
  const width = [...new Set(lengths)].sort((one, other) => one - other).join(", ");
  process.stdout.write(
    `${name}, ${width} characters: of ${COUNT} made-up texts ${share(opened)} open, ${share(canonical)} if encoded again\n`,
  );
}
