// The one list of the platforms that the native addon is built for.
//
// Each platform has a platform package: a package `npm/<name>` that contains the addon as `frazil.node` and nothing to run. npm installs
// the platform package whose `os`, `cpu` and `libc` fit the machine. `scripts/platforms/manifests.mjs` writes the manifests from this
// list, and `tests-js/packaging/platforms.test.mjs` compares every other place that names platforms with it.
import { isLinuxX64Gnu } from "../shell.mjs";

/** The lowest versions that a released addon may need. `xtask inspect` refuses a file that needs more. */
const GLIBC = "2.17";
const MACOS = "11.0";

/** The systems: what the library is called that cargo builds, and how a README calls the system. */
const SYSTEMS = {
  gnu: {
    os: "linux",
    libc: "glibc",
    built: "libfrazil_napi.so",
    floor: { glibc: GLIBC },
    title: "Linux",
    with: " with glibc",
  },
  musl: { os: "linux", libc: "musl", built: "libfrazil_napi.so", floor: {}, title: "Linux", with: " with musl" },
  darwin: { os: "darwin", built: "libfrazil_napi.dylib", floor: { macos: MACOS }, title: "macOS" },
  win32: { os: "win32", built: "frazil_napi.dll", floor: {}, title: "Windows" },
};

const platform = (name, cpu, target, { title, with: library = "", ...system }) => ({
  name,
  package: `frazil-${name}`,
  cpu,
  target,
  title: `${title} on ${cpu}${library}`,
  ...system,
});

/**
 * Every platform:
 *
 * - `name`: the folder in `npm/`; `package`: the name of the platform package, as `addonPackages()` in
 *   `npm/frazil/src/core/binding/node.ts` forms it;
 * - `os`, `cpu`, `libc`: as npm and `process` name them; only Linux has `libc`;
 * - `target`: what Rust builds for;
 * - `built`: the name of the library that cargo builds;
 * - `floor`: the lowest version of glibc or macOS that a released addon runs on, where there is one.
 */
export const PLATFORMS = [
  platform("linux-x64-gnu", "x64", "x86_64-unknown-linux-gnu", SYSTEMS.gnu),
  platform("linux-arm64-gnu", "arm64", "aarch64-unknown-linux-gnu", SYSTEMS.gnu),
  platform("linux-x64-musl", "x64", "x86_64-unknown-linux-musl", SYSTEMS.musl),
  platform("linux-arm64-musl", "arm64", "aarch64-unknown-linux-musl", SYSTEMS.musl),
  platform("darwin-x64", "x64", "x86_64-apple-darwin", SYSTEMS.darwin),
  platform("darwin-arm64", "arm64", "aarch64-apple-darwin", SYSTEMS.darwin),
  platform("win32-x64", "x64", "x86_64-pc-windows-gnullvm", SYSTEMS.win32),
  platform("win32-arm64", "arm64", "aarch64-pc-windows-gnullvm", SYSTEMS.win32),
];

/** The platform with that name. */
export function platformNamed(name) {
  const found = PLATFORMS.find((platform) => platform.name === name);
  if (found !== undefined) return found;
  const names = PLATFORMS.map(({ name }) => name).join(", ");
  throw new Error(`unknown platform ${JSON.stringify(name)}: must be one of ${names}`);
}

/** The platform of this machine, if `npm start` builds its platform package here with plain cargo. */
export const PLATFORM_HERE = isLinuxX64Gnu ? platformNamed("linux-x64-gnu") : undefined;
