/** One ID with its explanation. */
import type { Layout } from "frazil/layout";
import { FITTING_TIME } from "../../npm/frazil/src/likely/layouts.js";
import { element } from "./dom.js";
import type { Found } from "./ids.js";
import { type Answer, OWN } from "./layouts.js";
import { timesOf } from "./times.js";

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** How sure the first reading is. */
function surenessOf({ sureness, readings: [, second] }: Answer): string {
  if (sureness === "given") return "the layout you gave";
  if (sureness === "only") return "the only named layout that fits";
  if (sureness === "likely" || second === undefined) return sureness;
  return `possible, and ${second.name} of ${dayOf(second.timestampMs)} as well`;
}

interface Field {
  readonly kind: string;
  readonly name: string;
  readonly digits: string;
  readonly value: string;
}

/** The 64 bits of an ID, field by field. */
function fieldsOf(id: bigint, layout: Layout): Field[] {
  const all = id.toString(2).padStart(64, "0");
  let at = 64 - layout.fields.reduce((sum, { bits }) => sum + bits, 0);
  let parts = 0;
  const unused = at === 0 ? [] : [{ kind: "unused", name: "unused", digits: all.slice(0, at), value: "0" }];
  return [
    ...unused,
    ...layout.fields.map(({ kind, name, bits }) => {
      const digits = all.slice(at, at + bits);
      at += bits;
      // Parts of the node id alternate colours.
      if (kind === "node") parts++;
      const colour = kind === "node" && parts % 2 === 0 ? "node-2" : kind;
      return { kind: colour, name: name ?? kind, digits, value: `${BigInt(`0b${digits}`)}` };
    }),
  ];
}

const row = (name: string, text: string) => [element("dt", {}, name), element("dd", {}, text)];

/** The explanation of an ID by a layout. */
function explained(id: bigint, layout: Layout, nowMs: number): HTMLElement {
  const fields = fieldsOf(id, layout);
  const bits = element("div", { class: "bits", "aria-hidden": "true" });
  for (const { kind, name, digits } of fields)
    bits.append(
      element(
        "span",
        { class: `field ${kind}` },
        element("b", {}, digits),
        element("i", {}, `${name} ${digits.length}`),
      ),
    );
  const times = element("dl", {}, ...timesOf(layout.timestampOf(id), nowMs).flatMap(([name, text]) => row(name, text)));
  const values = element("dl", { class: "values" });
  for (const { kind, name, digits, value } of fields)
    if (kind !== "unused")
      values.append(
        element(
          "dt",
          {},
          element("span", { class: `mark ${kind}`, "aria-hidden": "true" }),
          `${name}, ${digits.length} bits`,
        ),
        element("dd", {}, value),
      );
  return element("div", {}, bits, element("div", { class: "columns" }, times, values));
}

/** Warnings that depend on the layout. */
const doubtsOf = (name: string, { doubtful }: Answer): string[] =>
  doubtful.filter((one) => one.name === name).map(({ doubt }) => `As ${name}, ${doubt}.`);

export function resultOf(found: Found, answer: Answer, nowMs: number, number: number): HTMLElement {
  const { id, text, form, others, warnings } = found;
  // The layout of the visitor is the first, also if it is doubtful.
  const choices = [...answer.readings, ...answer.doubtful].sort(
    (a, b) => Number(b.name === OWN) - Number(a.name === OWN),
  );
  const heading = element("h3", { id: `result-${number}` }, text);
  const article = element("article", { "aria-labelledby": `result-${number}` }, heading);
  if (form !== "decimal")
    article.append(
      element(
        "p",
        {},
        `${id} as decimal text. Read as ${form}${others.length > 0 ? ` (it can be ${others.join(", ")} too)` : ""}.`,
      ),
    );
  const verdict = element("p", { class: "verdict" });
  const notes = element("ul", { class: "warnings" });
  const body = element("div");
  const select = element("select", { id: `layout-${number}` });
  for (const one of choices) {
    const label = "doubt" in one ? `${one.name} (doubtful)` : one.name;
    select.append(element("option", { value: one.name }, label));
  }
  const show = () => {
    const chosen = choices.find(({ name }) => name === select.value);
    if (chosen === undefined) return;
    const { readings } = answer;
    const isFirst = readings[0] === chosen;
    const reading = readings.find((one) => one === chosen);
    const how = isFirst ? surenessOf(answer) : reading === undefined ? "doubtful" : "less likely";
    verdict.replaceChildren(element("strong", {}, chosen.name), `: ${how}`);
    const reasons = [`its time is ${FITTING_TIME}`, ...(reading?.reasons ?? [])];
    if (reading !== undefined) verdict.append(element("span", { class: "why" }, ` (${reasons.join("; ")})`));
    const beyond = answer.isBeyondOwn ? ["Yours cannot hold it."] : [];
    const texts = [...beyond, ...warnings, ...doubtsOf(chosen.name, answer)];
    notes.replaceChildren(...texts.map((warning) => element("li", {}, warning)));
    notes.hidden = texts.length === 0;
    body.replaceChildren(explained(id, chosen.layout, nowMs));
  };
  select.addEventListener("change", show);
  const choice = element("p", { class: "choice" }, element("label", { for: `layout-${number}` }, "Read as "), select);
  if (choices.length === 0) verdict.append("No layout can hold it.");
  article.append(verdict, notes, body);
  if (choices.length > 1) article.append(choice);
  if (answer.readings.length > 1) article.append(comparison(answer));
  show();
  return article;
}

/** All layouts that fit, most likely first. */
function comparison({ readings }: Answer): HTMLElement {
  const table = element(
    "table",
    {},
    element("tr", {}, element("th", { scope: "col" }, "Layout"), element("th", { scope: "col" }, "Time (UTC)")),
  );
  for (const { name, timestampMs } of readings)
    table.append(
      element(
        "tr",
        {},
        element("td", {}, name),
        element("td", {}, new Date(timestampMs).toISOString().slice(0, 19).replace("T", " ")),
      ),
    );
  return element("details", {}, element("summary", {}, `${readings.length} layouts fit`), table);
}
