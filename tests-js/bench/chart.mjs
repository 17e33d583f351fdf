// `npm run bench -- chart`: draws the latest record of isolated calls (`npm run bench -- isolated`) as
// docs/reference/benchmarks/one-id.svg, and prints the table of isolated calls. docs/reference/benchmarks.md shows both: the time of a call
// behind a request, over that of the fastest other package.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { root } from "../../scripts/shell.mjs";
import { table } from "./record.mjs";

const folder = `${root}docs/reference/benchmarks/`;
const record = readdirSync(folder)
  .filter((name) => /^\d{4}-\d\d-\d\d-isolated\.md$/.test(name))
  .sort()
  .at(-1);
if (record === undefined) throw new Error("there is no record to draw: npm run bench -- isolated");

/** The ratios of the record, by runtime, subject and column. */
const ratios = {};
for (const section of readFileSync(folder + record, "utf8")
  .split("\n## ")
  .slice(1)) {
  const [runtime] = section.split("\n");
  const [[, ...columns], , ...lines] = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, line]) => line.split(" | "));
  const named = (cells) => Object.fromEntries(columns.map((column, at) => [column, cells[at]?.split(" ")[0]]));
  ratios[runtime] = Object.fromEntries(lines.map(([name, ...cells]) => [name, named(cells)]));
}
const [ADDON, WASM] = ["native, a request", "wasm, a request"];
const DRAWN = "Node 20";
const OURS = ["`next()`", "`next()` of `local()`", "`next()` of a lease"];
const others = Object.keys(ratios[DRAWN]).filter((name) => !/`|, text$/.test(name));
const rows = [...OURS, ...others].map((name) => {
  const isOurs = OURS.includes(name);
  const { [ADDON]: addon, [WASM]: wasm } = ratios[DRAWN][name];
  return {
    name: isOurs ? `frazil, ${name.replaceAll("`", "")}` : name,
    isOurs,
    addon: Number(addon),
    wasm: Number(wasm),
  };
});
if (others.length < 5) throw new Error(`${record} has ${others.length} packages to draw: its table has another form`);

const [WIDTH, TOP, ROW, NAMES, GAP] = [700, 84, 24, 186, 34];
const PANEL = (WIDTH - NAMES - GAP - 24) / 2;
const height = TOP + rows.length * ROW + 16;
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
    if (!row[key]) return "";
    return `<rect class="${row.isOurs ? "frazil" : "peer"}" x="${left}" y="${y}" width="${width}" height="16" rx="2"/>${at((left + Number(width) + 5).toFixed(1), y + 12, String(row[key]), "figure")}`;
  });
  return [at(left, 50, title, "bold"), at(left, 67, unit, "muted"), ...bars];
}
const names = rows.map(({ name, isOurs }, index) =>
  at(NAMES - 10, TOP + index * ROW + 12, name, isOurs ? "name bold" : "name"),
);
const title = `One ID by one call behind a request, ${DRAWN}, ${record.slice(0, 10)}. Shorter is faster.`;
// With a ground of its own, it can be read on a page of any colour, also where the page and the system have different schemes.
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .bold { font-weight: 600 } .name { text-anchor: end }
.muted { fill: #59636e } .figure { font-size: 11px } .ground { fill: #fff; stroke: #d1d9e0 }
.frazil { fill: #0969da } .peer { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .muted { fill: #9198a1 } .ground { fill: #0d1117; stroke: #3d444d }
.frazil { fill: #4493f8 } .peer { fill: #656c76 }
}
</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
${[
  at(14, 24, title),
  ...names,
  ...panel(NAMES, "the addon", "times the fastest other package", "addon"),
  ...panel(NAMES + PANEL + GAP, "WebAssembly", "times the fastest other package", "wasm"),
].join("\n")}
</svg>
`;
writeFileSync(`${folder}one-id.svg`, svg);

const runtimes = ["Node 20", "Node 22", "Node 24"];
const rowOf = (name, column, backend) => [
  `${name}, ${backend}`,
  ...runtimes.map((runtime) => ratios[runtime][name][column]),
];
const shown = [
  ...OURS.map((name) => rowOf(name, ADDON, "addon")),
  ...OURS.filter((name) => !name.includes("local")).map((name) => rowOf(name, WASM, "WebAssembly")),
];
process.stdout.write(
  `${table(["call", ...runtimes], shown)}\n\ndocs/reference/benchmarks/one-id.svg: ${rows.length} rows of ${record}\n`,
);
