// Without the types of Workers: bindings as the program itself declares them.
import { D1Store } from "frazil/stores/d1";
import {
  DurableObjectStore,
  durable,
  FrazilLeases,
  type LeasedSnowflake,
  leased,
  type ObjectState,
  type RequestContext,
} from "frazil/workers";
import { check, type Equal } from "./equal.ts";

interface Namespace {
  idFromName(name: string): { toString(): string };
  get(id: { toString(): string }): { fetch(url: string): Promise<unknown> };
}
interface Statement {
  bind(...values: unknown[]): Statement;
}
interface Database {
  prepare(query: string): Statement;
  batch<T>(statements: Statement[]): Promise<{ results: T[] }[]>;
}

export { FrazilLeases };
export class OwnLeases extends FrazilLeases {}

export async function right(namespace: Namespace, database: Database, ctx: RequestContext, state: ObjectState) {
  const ids = await leased(namespace, ctx);
  check<Equal<typeof ids, LeasedSnowflake<"edge">>>();
  await leased(new D1Store(database), ctx);
  await leased(new DurableObjectStore(namespace));
  await using closed = await leased(namespace);
  using own = durable(state, { node: 0 });
  return [closed.next(), own.next()];
}

export function wrong(namespace: Namespace, database: Database): void {
  // @ts-expect-error: a database
  leased(database);
  // @ts-expect-error: a namespace
  new D1Store(namespace);
  // @ts-expect-error: a database
  new DurableObjectStore(database);
  // @ts-expect-error: a namespace
  durable(namespace, { node: 0 });
}
