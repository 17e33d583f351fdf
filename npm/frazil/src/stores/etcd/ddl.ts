/** What npx frazil ddl prints: commands for a shell with etcdctl. */

import { recordOf } from "../kit/lease/requests.js";
import { UNUSED } from "../kit/lease/rules.js";
import { newScope } from "../kit/lease/scope-record.js";
import type { InitOptions } from "../lease-store.js";
import { type EtcdStoreOptions, prefixOf } from "./gateway.js";
import { Keys, recordValue } from "./records.js";

const NOT_WRITTEN = "frazil: the record was not written. If the scope has a record or rows, leave them as they are.";

/**
 * The commands that an administrator runs instead of `init`, and the rights of a program. The value is in double quotes: etcdctl 3.4 cuts
 * off what a transaction has in single quotes.
 */
const shellOf = (keys: Keys, prefix: string, value: string, first: string) => `export ETCDCTL_API=3

# The rights of the user that your program has, if authentication is on.
etcdctl role add frazil
etcdctl role grant-permission frazil --prefix=true readwrite ${/^[\w./:@-]+$/.test(prefix) ? prefix : `'${prefix}'`}
# etcdctl user grant-role YOUR_USER frazil

# The record, once, where there is neither a record nor a row. etcdctl ends with 0 also if the comparison failed: grep does not.
etcdctl txn <<'END' | grep -x SUCCESS || { echo '${NOT_WRITTEN}' >&2; false; }
create("${keys.scope}") = "0"
create("${first}") = "0"

put ${keys.scope} ${JSON.stringify(value)}

get ${keys.scope}

END
`;

/**
 * What `init` does, as commands for people to read and run: the rights of a role, the record of a scope. The cluster is not
 * known here; the first holder sets it.
 *
 * @internal
 */
export function etcdDdl(options: InitOptions, store: Pick<EtcdStoreOptions, "prefix"> = {}): string {
  const record = recordOf(options);
  const prefix = prefixOf(store.prefix);
  const keys = new Keys(prefix, record.scope);
  return shellOf(keys, prefix, JSON.stringify(recordValue(newScope(record, UNUSED), 0)), keys.lease(record.nodeFrom));
}
