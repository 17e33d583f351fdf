// The contracts through the other clients that docs/reference/stores.md names.
import { holdClients } from "./contract.mjs";
import { OTHER_CLIENTS } from "./programs.mjs";

holdClients(OTHER_CLIENTS);
