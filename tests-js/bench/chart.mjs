// `npm run bench -- chart`: draws the latest record of the other packages (`npm run bench -- peers`) as
// docs/reference/benchmarks/one-id.svg, which docs/reference/benchmarks.md shows: the time of one isolated call, and of one of a
// burst, with those that repeat IDs marked.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { root } from "../../scripts/shell.mjs";

const folder = `${root}docs/reference/benchmarks/`;
const record = readdirSync(folder)
  .filter((name) => /^\d{4}-\d\d-\d\d-peers-native\.md$/.test(name))
  .sort()
  .at(-1);
if (record === undefined) throw new Error("there is no record to draw: npm run bench -- peers");
const text = readFileSync(folder + record, "utf8");

/** The rows of 64-bit IDs: name, burst, isolated call, repeats. */
const rows = Array.from(
  text.matchAll(/^\| ([^|]+) \| ([\d.]+) \([^|]*\| [^|]*\| ([\d.]+) \([^|]*\| ([^|]+) \|$/gm),
  ([, name, burst, isolated, repeats]) => ({
    name: name.replace(" (native)", ""),
    burst: Number(burst),
    isolated: Number(isolated),
    repeats: repeats === "none" ? undefined : repeats.replaceAll("*", ""),
  }),
);
if (rows.length < 5) throw new Error(`${record} has ${rows.length} rows that can be drawn: its table has another form`);

const [WIDTH, TOP, ROW, NAMES, GAP] = [700, 84, 24, 186, 34];
const PANEL = (WIDTH - NAMES - GAP - 24) / 2;
const height = TOP + rows.length * ROW + 44;
const escaped = (value) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const at = (x, y, content, kind = "") =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`;

/** The bars of one column, from 0. Longer is slower. */
function panel(left, title, unit, key) {
  const most = Math.max(...rows.map((row) => row[key]));
  // The figure stands behind the bar.
  const scale = (PANEL - 34) / most;
  const bars = rows.map((row, index) => {
    const y = TOP + index * ROW;
    const width = (row[key] * scale).toFixed(1);
    const kind = row.name.startsWith("frazil") ? "frazil" : row.repeats ? "repeats" : "peer";
    return `<rect class="${kind}" x="${left}" y="${y}" width="${width}" height="16" rx="2"/>${at((left + Number(width) + 5).toFixed(1), y + 12, String(row[key]), "figure")}`;
  });
  return [at(left, 50, title, "bold"), at(left, 67, unit, "muted"), ...bars];
}
const names = rows.flatMap(({ name, repeats }, index) => {
  const y = TOP + index * ROW + 12;
  return at(
    NAMES - 10,
    y,
    repeats ? `${name} ✗` : name,
    name.startsWith("frazil") ? "name bold" : repeats ? "name bad" : "name",
  );
});
const bad = rows.filter(({ repeats }) => repeats);
const foot =
  bad.length === 0
    ? ""
    : `✗ repeats IDs in a tight loop: ${bad.map(({ name, repeats }) => `${name} ${repeats}`).join(", ")}`;
const title = `One ID by one call, from the record of ${record.slice(0, 10)}. Shorter is faster.`;
// With a ground of its own, it can be read on a page of any colour, also where the page and the system have different schemes.
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .bold { font-weight: 600 } .name { text-anchor: end } .bad { fill: #a40e26 }
.muted { fill: #59636e } .figure { font-size: 11px } .ground { fill: #fff; stroke: #d1d9e0 }
.frazil { fill: #0969da } .peer { fill: #8c959f } .repeats { fill: #e5a3a9 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .muted { fill: #9198a1 } .bad { fill: #ff9492 } .ground { fill: #0d1117; stroke: #3d444d }
.frazil { fill: #4493f8 } .peer { fill: #656c76 } .repeats { fill: #8e3a42 }
}
</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
${[
  at(14, 24, title),
  ...names,
  ...panel(NAMES, "isolated call", "µs, median", "isolated"),
  ...panel(NAMES + PANEL + GAP, "call of a burst", "times Date.now() and an array read", "burst"),
  at(14, height - 16, foot, "muted"),
].join("\n")}
</svg>
`;
writeFileSync(`${folder}one-id.svg`, svg);
process.stdout.write(`docs/reference/benchmarks/one-id.svg: ${rows.length} rows of ${record}\n`);
