/**
 * `<frazil-decoder>`: explains the IDs in a pasted text. It sends nothing anywhere. The content of the element is for readers without
 * JavaScript; otherwise the shadow tree replaces it.
 */
import type { Layout } from "frazil/layout";
import { element } from "./dom.js";
import { idsIn, MAX_LENGTH } from "./ids.js";
import { answerFor, fragmentOf, layoutOf, type Written, writtenIn } from "./layouts.js";
import { resultOf } from "./result.js";
import { STYLE } from "./style.js";

const EXAMPLES: readonly (readonly [name: string, text: string])[] = [
  ["a tweet", "1541815603606036480"],
  ["a Discord message", "175928847299117063"],
  ["a Mastodon post", "103270115826048975"],
  ["a log", 'INFO order created id=382467004507910144 by user 0x045eec4a4600041b "tsid":"01226N0640J7K"'],
];
/** More would make the page slow. */
const MAX_SHOWN = 50;
/** Keeps each key from interrupting a screen reader. */
const PAUSE_MS = 150;
const START: Written = { fields: "time 41, node 10, sequence 12", tickMs: "1", epoch: "2024-01-01" };

class Decoder extends HTMLElement {
  readonly #input = element("textarea", {
    id: "text",
    rows: "3",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  readonly #status = element("p", { role: "status", class: "small" });
  readonly #error = element("p", { role: "alert", class: "error" });
  readonly #results = element("div");
  readonly #own = element("details", {}, element("summary", {}, "Your own layout"));
  readonly #fields = {
    fields: element("input", { id: "fields", spellcheck: "false" }),
    tickMs: element("input", { id: "tick", inputmode: "numeric" }),
    epoch: element("input", { id: "epoch", spellcheck: "false" }),
  };
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onFragment = () => this.#readFragment();

  connectedCallback(): void {
    if (this.shadowRoot === null) this.#build(this.attachShadow({ mode: "open" }));
    addEventListener("hashchange", this.#onFragment);
    this.#readFragment();
  }

  disconnectedCallback(): void {
    removeEventListener("hashchange", this.#onFragment);
  }

  #build(root: ShadowRoot): void {
    // A style element would be an inline style, which a policy may forbid.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const examples = element("div", { class: "examples" }, element("span", { class: "small" }, "Try:"));
    for (const [name, text] of EXAMPLES) {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", () => {
        this.#input.value = text;
        this.#show();
      });
      examples.append(button);
    }
    this.#input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#show(), PAUSE_MS);
    });
    root.append(
      element("label", { for: "text" }, "An ID, several, or a log"),
      this.#input,
      element("p", { class: "small" }, "Decimal, hex, base62, Crockford and other forms. Nothing leaves this page."),
      examples,
      this.#ownLayout(),
      this.#status,
      this.#results,
    );
  }

  /** The fields for a layout. The address reflects them, so it can be shared: it contains the layout and no ID. */
  #ownLayout(): HTMLElement {
    const { fields, tickMs, epoch } = this.#fields;
    const use = element("button", { type: "submit" }, "Use it");
    const clear = element("button", { type: "button" }, "Remove it");
    const form = element(
      "form",
      { class: "own" },
      element(
        "div",
        { class: "wide" },
        element("label", { for: "fields" }, "Fields, most significant first, with their bits"),
        fields,
      ),
      element("div", {}, element("label", { for: "tick" }, "Tick in milliseconds"), tickMs),
      element("div", {}, element("label", { for: "epoch" }, "Epoch"), epoch),
      element("div", {}, use, " ", clear),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      history.replaceState(history.state, "", `#${fragmentOf(this.#written)}`);
      this.#show();
    });
    clear.addEventListener("click", () => {
      history.replaceState(history.state, "", location.pathname + location.search);
      this.#show();
    });
    this.#own.append(
      form,
      this.#error,
      element("p", { class: "small" }, "The address of this page then has the layout, and no ID."),
    );
    this.#fill(START);
    return this.#own;
  }

  get #written(): Written {
    const { fields, tickMs, epoch } = this.#fields;
    return { fields: fields.value, tickMs: tickMs.value, epoch: epoch.value };
  }

  #fill({ fields, tickMs, epoch }: Written): void {
    this.#fields.fields.value = fields;
    this.#fields.tickMs.value = tickMs;
    this.#fields.epoch.value = epoch;
  }

  #readFragment(): void {
    const written = writtenIn(location.hash);
    if (written !== undefined) {
      this.#own.open = true;
      this.#fill(written);
    }
    this.#show();
  }

  /** The layout in the address; `undefined` if there is none, or a wrong one. */
  #layout(): Layout | undefined {
    const written = writtenIn(location.hash);
    this.#error.textContent = "";
    if (written === undefined) return undefined;
    try {
      return layoutOf(written);
    } catch (error) {
      this.#error.textContent = (error as Error).message;
      return undefined;
    }
  }

  #show(): void {
    clearTimeout(this.#timer);
    const own = this.#layout();
    const text = this.#input.value;
    const { found, refused } = idsIn(text);
    const nowMs = Date.now();
    this.#results.replaceChildren(
      ...found.slice(0, MAX_SHOWN).map((one, at) => resultOf(one, answerFor(one, own, nowMs), nowMs, at)),
      ...refused
        .slice(0, MAX_SHOWN)
        .map(({ text, reason }) => element("article", {}, element("h3", {}, text), element("p", {}, reason))),
    );
    const count = found.length === 1 ? "1 ID" : `${found.length} IDs`;
    const more = found.length > MAX_SHOWN ? `, the first ${MAX_SHOWN} are shown` : "";
    const part = text.length > MAX_LENGTH ? ` in the first ${MAX_LENGTH.toLocaleString("en")} characters` : "";
    this.#status.textContent = text.trim() === "" ? "" : `${found.length === 0 ? "No ID" : count} found${part}${more}.`;
  }
}

customElements.define("frazil-decoder", Decoder);
