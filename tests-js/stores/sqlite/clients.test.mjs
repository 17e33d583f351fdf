// The contracts through the other clients that docs/stores.md names.
import { holdClients } from "./contract.mjs";
import { OTHER_CLIENTS } from "./programs.mjs";

holdClients(OTHER_CLIENTS);
