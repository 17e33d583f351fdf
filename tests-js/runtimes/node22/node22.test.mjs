import { tools } from "../../../scripts/tools.mjs";
import { testNode } from "../test-node.mjs";

testNode("Node 22", tools.node22);
