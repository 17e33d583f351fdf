// The types of IDs that the tests with other packages use.
import { Snowflake } from "frazil";
import { anyId, defineId } from "frazil/typed";

const ids = new Snowflake({ node: 7 });
export const UserId = defineId("usr", { ids });
export const OrgId = defineId("org", { ids });
export const EitherId = anyId(UserId, OrgId);
/** An ID above 2^53, its texts, and texts that `UserId` refuses. */
export const id = 1541815603606036480n;
export const written = "usr_1ptWyK4WgZU";
export const refused = ["org_1ptWyK4WgZU", "usr_1ptWyK4WgZ", "usr_1ptWyK4WgZU ", `${id}`, Number(id), null];
