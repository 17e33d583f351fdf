// Link targets that are not pages: files outside docs/, and data. The links lead to the repository. Without its address (package.json,
// "repository") the site has a copy of each, as text.
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { FILES_AT, repositorySetting } from "../../scripts/release/repository.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const COPIES = "files/";

export class OutsideFiles {
  #base;
  #repository = repositorySetting()?.repository;
  #copied = new Set();

  constructor(base) {
    this.#base = base;
  }

  /** The link to a file, or `undefined` if it leads to a page or to another site. */
  linkOf(page, href) {
    if (/^([a-z]+:|#|\/)/i.test(href)) return undefined;
    const [path, anchor] = href.split("#");
    const file = posix.join("docs", posix.dirname(page), path);
    if (path.endsWith(".md") && file.startsWith("docs/")) return undefined;
    if (!existsSync(`${root}${file}`) || !statSync(`${root}${file}`).isFile())
      throw new Error(`docs/${page} links to ${href}: there is no such file`);
    if (this.#repository !== undefined)
      return `${this.#repository}${FILES_AT}${file}${anchor === undefined ? "" : `#${anchor}`}`;
    this.#copied.add(file);
    return `${this.#base}${COPIES}${file}.txt`;
  }

  /** The copies while the site is served, as a plugin of Vite. */
  server() {
    return {
      name: "outside-files",
      configureServer: ({ middlewares }) => {
        middlewares.use(`${this.#base}${COPIES}`, ({ url }, response, next) => {
          const file = url.slice(1).replace(/\.txt$/, "");
          if (!this.#copied.has(file)) return next();
          response.setHeader("content-type", "text/plain; charset=utf-8");
          return response.end(readFileSync(`${root}${file}`));
        });
      },
    };
  }

  /** Writes the copies into the built site. */
  write(folder) {
    for (const file of this.#copied) {
      const copy = `${folder}/${COPIES}${file}.txt`;
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(`${root}${file}`, copy);
    }
  }
}
