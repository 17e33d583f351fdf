/** Makes elements. Text is never read as HTML. */
type Child = Node | string;

export function element<N extends keyof HTMLElementTagNameMap>(
  name: N,
  attributes: Readonly<Record<string, string>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[N] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
