// See mixed.mts.
import frazil = require("frazil");

export declare const decoded: frazil.Decoded<"node">;
