// The contracts through the node:sqlite of Node 24, as a quick check.
import { holdClients } from "./contract.mjs";
import { NODE_24 } from "./programs.mjs";

holdClients([NODE_24]);
