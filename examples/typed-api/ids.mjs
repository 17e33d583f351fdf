// The generator, and the three types of IDs, whose texts are sealed.
import { lease } from "frazil/lease";
import { publicIds } from "frazil/public";
import { PostgresStore } from "frazil/stores/postgres";
import { anyId, defineId } from "frazil/typed";
import { client } from "./database.mjs";

// The first key seals. Texts of the other one, which is a new or an old key, are read.
const { ID_KEY, ID_KEY_OTHER } = process.env;
if (!ID_KEY) throw new Error("ID_KEY is not set. `npx frazil key new` makes one: see README.md.");
const keys = ID_KEY_OTHER ? [ID_KEY, ID_KEY_OTHER] : [ID_KEY];

const store = new PostgresStore(client);
await store.migrate();
if (process.argv.includes("--init")) await store.init({ layout: "default" });

/** Each process leases a node id, so two never make the same ID. */
export const ids = await lease(store);

const typeOf = (prefix) => defineId(prefix, { ids, public: publicIds({ kind: prefix, keys }) });
export const OrgId = typeOf("org");
export const UserId = typeOf("usr");
export const PostId = typeOf("post");
/** Reads an ID of any of them. */
export const AnyId = anyId(OrgId, UserId, PostId);
