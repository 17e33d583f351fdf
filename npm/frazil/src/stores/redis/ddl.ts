/** What npx frazil ddl and npx frazil fence print: scripts for a shell with redis-cli. */

import { fencedScope, recordOf } from "../kit/lease/requests.js";
import { type DdlTags, printedTags } from "../kit/segment/requests.js";
import type { InitOptions } from "../lease-store.js";
import { ENSURE, INIT, KEYS, keysOf } from "./lease-scripts.js";
import { ACL_RULE, completion, type RedisStoreOptions } from "./options.js";
import { MAKE_TAG, tagKey } from "./segment-scripts.js";

/** The server of `$REDIS_URL` if there is one, else that of this host. */
const CLI = `redis-cli \${REDIS_URL:+-u "$REDIS_URL"}`;

/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const NOT_WRITTEN = "frazil: the record was not written. If the scope has a record or rows, leave them as they are.";

/**
 * What an administrator sets up and what `init` or `initSegment` does, for people to read and run: a script of a shell.
 *
 * @internal
 */
export function redisDdl(options: InitOptions | DdlTags, store: RedisStoreOptions): string {
  const complete = completion(store);
  return `# It is written to the server in $REDIS_URL, or else to that of this host.
# Settings of redis.conf. A restart without its last writes is fenced; one without any writes needs a person.
#   appendonly yes
#   appendfsync always              # everysec is fenced too: new holders wait after each restart, as they do with always
#   maxmemory-policy noeviction
#   min-replicas-to-write 1         # if there are replicas: half of them, on the primary and on each replica
#
# The rights of the user that your program connects as.
#   ACL SETUSER your_user on '>password' ${ACL_RULE}
#
${"tags" in options ? tagRecords(options, complete) : scopeRecord(options, complete)}`;
}

/**
 * What `fence` does, for people to read and run: a script of a shell.
 *
 * @internal
 */
export function redisFence(name: string, store: RedisStoreOptions): string {
  const scope = fencedScope({ scope: name });
  const words = keysOf(scope).map(quoted).join(" ");
  const failed = quoted(
    `frazil: the fence was not raised: this database has no scope "${scope}", or the server refused.`,
  );
  return `# Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
# On the primary, before the programs start: npx frazil fence redis … | sh
# It is written to the server in $REDIS_URL, or else to that of this host. It prints the time, in Unix milliseconds.
${CLI} EVAL ${quoted(completion(store)(ENSURE))} ${KEYS.length} ${words} always |
  grep -x -A 1 fence || { echo ${failed} >&2; false; }
`;
}

function scopeRecord(options: InitOptions, complete: (script: string) => string): string {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
  const words = [...keysOf(scope), layout, nodeFrom, nodeTo, windowMaxMs].map((word) => quoted(`${word}`));
  return `# The record of the scope "${scope}", once, on the primary. Its reply is "initialised" if there is one: leave that as it is.
${CLI} EVAL ${quoted(complete(INIT))} ${KEYS.length} ${words.join(" ")} |
  grep -x made || { echo ${quoted(NOT_WRITTEN)} >&2; false; }
`;
}

function tagRecords(given: DdlTags, complete: (script: string) => string): string {
  const { tags, first } = printedTags(given);
  const keys = tags.map((tag) => quoted(tagKey(tag)));
  return `# The records of tags, on the primary. ${first} is the first number. One that is there stays as it is: its reply is "present".
for key in ${keys.join(" ")}; do
  ${CLI} EVAL ${quoted(complete(MAKE_TAG))} 1 "$key" ${first} |
    grep -xE 'made|present' || { echo "frazil: the record $key was not written." >&2; exit 1; }
done
`;
}
