// Writes what follows from the list of platforms: `package.json` and `README.md` of each platform package, and the optional dependencies
// of `frazil` and of the root. Run it after a change of the list, or of the version of frazil:
//
//   node scripts/platforms/manifests.mjs && npm install --package-lock-only --ignore-scripts
//
// The platform packages are optional dependencies of the root and no workspaces: npm refuses to install a workspace whose `os`, `cpu` or
// `libc` does not fit the machine (EBADPLATFORM), and skips an optional dependency.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { manifestWithRepository } from "../release/repository.mjs";
import { root } from "../shell.mjs";
import { PLATFORMS } from "./index.mjs";

const read = (path) => JSON.parse(readFileSync(`${root}${path}`, "utf8"));
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

function manifestOf({ package: platformPackage, title, os, cpu, libc }, { version, license }) {
  return {
    name: platformPackage,
    version,
    description: `The native addon of frazil for ${title}. Installed by frazil; nothing to import here.`,
    license,
    type: "commonjs",
    main: "frazil.node",
    files: ["frazil.node", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md"],
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // No `engines`: npm and pnpm leave an optional dependency out, without a word, where they do not fit, and the program may run under
    // another Node than the one that installs. Those of frazil warn. Yarn must not keep the package in an archive: the system cannot load a
    // library from it.
    preferUnplugged: true,
  };
}

const readmeOf = ({ package: platformPackage, title }) => `# ${platformPackage}

The native addon of [\`frazil\`](https://www.npmjs.com/package/frazil) for ${title}.
\`npm install frazil\` installs this package on that platform. Do not import it directly.
`;

/** Each file that follows from the list, and its text. */
export function platformPackageFiles() {
  const frazil = read("npm/frazil/package.json");
  const workspace = read("package.json");
  const dependencies = (value) => Object.fromEntries(PLATFORMS.map((each) => [each.package, value(each)]).sort());
  frazil.optionalDependencies = dependencies(() => frazil.version);
  workspace.optionalDependencies = dependencies(({ name }) => `file:npm/${name}`);
  return [
    ["npm/frazil/package.json", json(frazil)],
    ["package.json", json(workspace)],
    ...PLATFORMS.flatMap((each) => [
      [`npm/${each.name}/package.json`, manifestWithRepository(manifestOf(each, frazil), each.name)],
      [`npm/${each.name}/README.md`, readmeOf(each)],
    ]),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name } of PLATFORMS) mkdirSync(`${root}npm/${name}`, { recursive: true });
  for (const [path, text] of platformPackageFiles()) writeFileSync(`${root}${path}`, text);
}
