// VitePress writes scripts and styles into its pages, and images into its style sheets. Scripts and images become files here, and style.css
// has the styles, so that `default-src 'self'` allows the site.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** Inline scripts of pages, as files. */
export class InlineScripts {
  #base;
  #files = new Map();

  constructor(base) {
    this.#base = base;
  }

  moved(html) {
    return html
      .replaceAll(/ style="(?:position:relative|--vp-vh:0px);"/g, "")
      .replaceAll(/<script([^>]*)>([^<]+)<\/script>/g, (_, attributes, text) => {
        const name = `assets/inline.${hashOf(text)}.js`;
        this.#files.set(name, text);
        return `<script${attributes} src="${this.#base}${name}"></script>`;
      });
  }

  write(folder) {
    for (const [name, text] of this.#files) writeFileSync(`${folder}/${name}`, text);
  }
}

/** Images within style sheets, as files. */
export function dataUrlsToFiles(base) {
  return {
    name: "data-urls-to-files",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const sheet of Object.values(bundle).filter(({ fileName }) => fileName.endsWith(".css"))) {
          sheet.source = String(sheet.source).replaceAll(
            /url\((["'])data:image\/svg\+xml(?:;utf8)?,(.*?)\1\)/g,
            (_, _quote, text) => {
              const source = decodeURIComponent(text.replaceAll(/\\(["'])/g, "$1"));
              const fileName = `assets/icon.${hashOf(source)}.svg`;
              this.emitFile({ type: "asset", fileName, source });
              return `url(${base}${fileName})`;
            },
          );
        }
      },
    },
  };
}
