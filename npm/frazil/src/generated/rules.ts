// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

// One constant a rule, so that a bundle holds those it uses.
export const NONE = "";
export const WHOLE_NUMBER = "must be a whole number from {min} to {max}";
export const ONE_TIME = "must have exactly one time field";
export const ONE_SEQUENCE = "must have exactly one sequence field";
export const ONE_CLOCK = "must have at most one clock field";
export const NODE_WIDTH = "must have node fields of at most {max} bits together";
export const WIDTH = "must have fields of at most {max} bits together, or 64 with unsigned: true";
export const LAST_TICK = "must end within what a Date can hold (8640000000000000 ms)";
export const DISTINCT_NAMES = "must be a name that no other node field has (an unnamed one is \"node\")";
export const NAME_SYNTAX = "must be a letter followed by at most 31 letters, digits, - or _";
export const NAME_ONLY_NODE = "must not be set: only node fields have names";
export const KNOWN_LAYOUT = "must be the name of a layout";
export const NODE_NONE = "must be \"none\", your word that there is one generator: this layout has no node field";
export const NODE_NOT_NONE = "must be a node id: \"none\" is for layouts without a node field";
export const STATIC_LEAD = "must be at most {max} with a static node id";
export const NO_START_LEAD = "must be 0 where the start of the process is unknown: nothing else bounds its predecessor";
export const FINITE_CLOCK = "must be a finite number of Unix milliseconds";
export const ID_RANGE = "must be an ID from 0 to {max}";
export const ID_TEXT = "must be decimal digits without sign, blanks or leading zeros";
export const TIME_RANGE = "must be Unix milliseconds from {min} to {max}";
export const TICK_START = "must be the first millisecond of a tick ({min} ms long)";
export const FIELD_MISSING = "must be given: the layout has this field";
export const FIELD_ABSENT = "must not be given: the layout has no such field";
export const FIELD_ABOVE = "must be given: the layout has this field above its time";
export const NOTHING_UNORDERED = "must have only node fields above its time";
export const SEQUENCE_ZERO = "must be \"zero\"";
export const COUNT_REACH = "must be at most {max}: the full lead and the full wait together give no more";
export const SEQUENCE_WIDTH = "must be at most {max} bits, so that its value is exact as a JavaScript number";
export const CLOCK_WIDTH = "must be at most {max} bits";
export const FIELD_BELOW = "must not be given: below its time the field does not bound a range";
export const PART_NAMES = "must be given by the names of its parts, all of them";
export const NODE_GIVEN = "must be given, there is no default: number your machines and pass node; later versions add Snowflake.local() for one machine and lease(store) for many";
