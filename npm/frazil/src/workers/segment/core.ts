/** The core of a Worker that imports `frazil/workers/segment`: a module that has segments and nothing else. */
import { bindExports, exportsOf } from "../../core/binding/wasm.js";
import { Port } from "../../core/port.js";
import type { Core } from "../../segment/holder.js";
import wasm from "./workerd-segment-wasm.mjs";

let port: Port | undefined;

export const segmentsAlone: Core = {
  port() {
    port ??= new Port(bindExports(() => exportsOf(wasm)));
    return port;
  },
};
