/** Whether two types are the same one, `any` and `readonly` included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Fails to compile for anything but `true`. */
export function check<T extends true>(): T | undefined {
  return undefined;
}
