// The generator, and the three types of IDs.
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import { anyId, defineId } from "frazil/typed";
import { client } from "./database.mjs";

const store = new PostgresStore(client);
await store.migrate();
if (process.argv.includes("--init")) await store.init({ layout: "default" });

/** Each process leases a node id, so two never make the same ID. */
export const ids = await lease(store);

export const OrgId = defineId("org", { ids });
export const UserId = defineId("usr", { ids });
export const PostId = defineId("post", { ids });
/** Reads an ID of any of them. */
export const AnyId = anyId(OrgId, UserId, PostId);
