import { tools } from "../../../scripts/tools.mjs";
import { testNode } from "../node.mjs";

testNode("Node 24", tools.node24);
