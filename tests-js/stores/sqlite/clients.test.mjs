// The contracts through the other clients in docs/reference/stores.md.
import { holdClients } from "./contract.mjs";
import { OTHER_CLIENTS } from "./programs.mjs";

holdClients(OTHER_CLIENTS);
