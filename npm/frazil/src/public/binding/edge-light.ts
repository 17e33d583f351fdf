/** Vercel's edge runtime. See `core/binding/edge-light.ts`. */
import { instanceOf } from "../../core/binding/wasm.js";
import type { Exports } from "../exports.js";
import wasm from "./edge-light-public-wasm.mjs";

export const load = (): Exports => instanceOf(wasm);

export const HINT = "";
