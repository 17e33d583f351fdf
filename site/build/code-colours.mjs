// The colours of code as classes. Shiki writes them into `style` attributes, which a policy without 'unsafe-inline' forbids.
import { writeFileSync } from "node:fs";

/** The text of a `style` attribute: Shiki has an object or a text. */
const textOf = (style) =>
  typeof style === "string"
    ? style
    : Object.entries(style)
        .map((pair) => pair.join(":"))
        .join(";");

/** A transformer of Shiki, and a function that writes the rules of its classes. */
export function codeColours() {
  const classes = new Map();
  const move = (element) => {
    const { style, class: given, ...others } = element.properties;
    if (style === undefined) return;
    const text = textOf(style);
    const name = classes.get(text) ?? `code-${classes.size}`;
    classes.set(text, name);
    element.properties = { ...others, class: [given, name].flat().filter(Boolean).join(" ") };
  };
  return {
    transformer: { name: "code-colours", span: move, pre: move },
    write(folder) {
      const rules = [...classes].map(([style, name]) => `.${name}{${style}}\n`);
      writeFileSync(`${folder}/assets/code.css`, rules.join(""));
    },
  };
}
