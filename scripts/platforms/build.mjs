// `npm run build:platforms [-- NAME…]`: builds the addons that are released, of the platforms named or of all, one after the
// other, and inspects each. `npm start` does not need this, nor Zig.
//
// Zig links for every platform from one machine, and against an old glibc: what gcc links here needs the glibc of this machine.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { build } from "../build/index.mjs";
import { releaseEnvironment } from "../build/reproducible.mjs";
import { rustTarget, setUp } from "../setup.mjs";
import { root, run, step } from "../shell.mjs";
import { PLATFORMS, platformNamed } from "./index.mjs";
import { addonOf, glibcOf, inspectPlatformPackages } from "./inspect.mjs";
import { installZig, zig } from "./zig.mjs";

const cargoTarget = process.env.CARGO_TARGET_DIR ?? `${root}target`;
/** The build of napi wants the library that a Windows program would be linked with. None is: the addon finds Node when it starts. */
function emptyNodeLibrary() {
  const folder = `${root}.cache/libnode/`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}libnode.dll`, "");
  writeFileSync(`${folder}libnode.a`, "!<arch>\n");
  return folder;
}

/** More flags for rustc. */
const FLAGS = {
  musl: ["-Ctarget-feature=-crt-static"],
  // The name by which a library is linked: otherwise where it was built. Nothing links with this one.
  darwin: ["-Clink-arg=-Wl,-install_name,@rpath/frazil.node"],
};

function buildAddon({ name, os, libc, target, built, floor }) {
  const env = {
    ...releaseEnvironment(FLAGS[libc ?? os]),
    CARGO_ZIGBUILD_ZIG_PATH: zig.program,
    ...(os === "darwin" && { MACOSX_DEPLOYMENT_TARGET: floor.macos }),
    ...(os === "win32" && { LIBNODE_PATH: emptyNodeLibrary() }),
  };
  const versioned = libc === "glibc" ? `${target}.${floor.glibc}` : target;
  const what = ["--locked", "--quiet", "--release", "-p", "frazil-napi", "--target", versioned];
  run(zig.cargoZigbuild, ["zigbuild", ...what], { env });
  copyFileSync(`${cargoTarget}/${target}/release/${built}`, addonOf({ name }));
}

const { positionals } = parseArgs({ allowPositionals: true });
const platforms = positionals.length > 0 ? positionals.map(platformNamed) : PLATFORMS;
await setUp();
// First, since it builds the platform package of this machine without Zig.
await build();
await installZig();
for (const platform of platforms) {
  await rustTarget(platform.target);
  await step(`building the addon for ${platform.name}`, () => buildAddon(platform));
  let facts;
  try {
    [facts] = inspectPlatformPackages([platform]);
  } catch (error) {
    rmSync(addonOf(platform));
    throw error;
  }
  const needs = facts.format === "elf" && platform.libc === "glibc" ? [`glibc ${glibcOf(facts)}`] : [];
  if (facts.minimumMacos) needs.push(`macOS ${facts.minimumMacos}`);
  process.stdout.write(`npm/${platform.name}/frazil.node needs ${[...needs, ...facts.needs].join(", ")}\n`);
}
