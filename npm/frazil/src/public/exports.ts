/** The exports of the module. A status is 0, or the number of a rule. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  frame(): number;
  open(key: number, kind: number, bits: number, slot: number, at: number): number;
  encode(): number;
  decode(length: number): number;
}
