/** Cloudflare Workers. See `core/binding/workerd.ts`. */
import { exportsOf } from "../../core/binding/wasm.js";
import type { Exports } from "../exports.js";
import wasm from "./workerd-public-wasm.mjs";

export const load = (): Exports => exportsOf(wasm);

export const HINT = "";
