/** What the command line prints of a key, by a module for this alone: nobody else pays for it. */
import text from "../../build/keys.wasm";
import { bytesOf, checkByteOrder, instanceOf } from "../core/binding/wasm.js";
import { Place, Status } from "../generated/public.js";
import { fingerprintOf, refusalOf, writeKey, writeKind } from "./key.js";

interface Exports {
  readonly memory: WebAssembly.Memory;
  frame(): number;
  facts(key: number, kind: number, isShort: number): number;
}

/** @throws {ConfigError} for a key or a kind, without the key. */
export function keyFacts(
  key: string | Uint8Array,
  kind = "kind",
  form = "sealed",
): { fingerprint: string; derived: string; text: string } {
  checkByteOrder();
  const { memory, frame, facts } = instanceOf<Exports>(new WebAssembly.Module(bytesOf(text)));
  const bytes = new Uint8Array(memory.buffer, frame() + Place.ID_BYTES, Place.TEXT_BYTES);
  const length = writeKey(bytes, key);
  const kindLength = writeKind(bytes, kind);
  const status = length === undefined ? Status.KEY_TEXT : facts(length, kindLength, Number(form === "short"));
  if (status) throw refusalOf(status, "key", key, kind);
  return {
    fingerprint: fingerprintOf(new BigUint64Array(memory.buffer, frame(), 1)),
    derived: Buffer.from(bytes.subarray(Place.KEY_WIDTH, Place.DERIVED_END)).toString("hex"),
    text: String.fromCharCode(...bytes.subarray(0, Place.KEY_WIDTH)),
  };
}
