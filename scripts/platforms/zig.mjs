// Zig and cargo-zigbuild, from PyPI: they compile and link for other systems.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { installWheels } from "../setup.mjs";
import { root, step } from "../shell.mjs";

// The versions are part of the name, so that another version is installed beside an old one.
const TOOLS = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];
const folder = `${root}.cache/${TOOLS.join("-").replaceAll("==", "-")}/`;

/** The programs, once `installZig` has run. */
export const zig = { program: `${folder}ziglang/zig`, cargoZigbuild: `${folder}bin/cargo-zigbuild` };

export async function installZig() {
  if (existsSync(`${folder}complete`)) return;
  rmSync(folder, { recursive: true, force: true });
  await step("installing Zig", () => installWheels(folder, TOOLS));
  writeFileSync(`${folder}complete`, "");
}
