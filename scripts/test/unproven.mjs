// The suites that have not passed with the inputs of this checkout, for a release.
import { unproven } from "./rows.mjs";
import { SUITES } from "./suites.mjs";

/** CI runs the quick ones, and they have no rows. */
export const unprovenSuites = () => unproven(SUITES.filter(({ tier }) => tier !== "quick"));
