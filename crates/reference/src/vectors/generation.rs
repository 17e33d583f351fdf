//! `generation.json`: scripts of the times that a clock shows, and the answer of the generator at each step.

mod clock_ids;
mod clock_steps;
mod full_sequences;
mod layouts;
mod process_starts;
mod script;
mod sequence_starts;
mod ticks;
mod time_limits;

use serde_json::{Value, json};

use super::comment::comment;

pub(super) fn vectors() -> Value {
    let mut scripts = Vec::new();
    scripts.extend(ticks::ticks());
    scripts.extend(full_sequences::scripts());
    scripts.extend(clock_steps::scripts());
    scripts.extend(time_limits::epochs());
    scripts.extend(time_limits::last_ticks());
    scripts.extend(time_limits::last_ids());
    scripts.extend(process_starts::scripts());
    scripts.extend(ticks::long_ticks());
    scripts.extend(layouts::unusual_layouts());
    scripts.extend(clock_ids::scripts());
    scripts.extend(sequence_starts::scripts());
    scripts.extend(layouts::each_named_layout());
    json!({
        "_comment": comment(&[
            "scripts: each is one generator with a state of its own (Generator::private in Rust; PRIVATE = 1 in the frame), asked step after step; a refusal leaves it as it was.",
            "layout; node: the node id as a number, or \"none\"; maxLeadMs; startMs: when the process started, null where unknown; sequenceStart; key: the two halves of the state's key, null where sequenceStart is zero.",
            "A step: the clock shows nowMs, want IDs are asked for (at most 4096), and confirmed says whether this is the second reading of the clock for one call. expect is one of:",
            "{ ids: { first, last, count }, validFromMs, validUntilMs }: count IDs (1 to want) are issued, first and last as given, and the clock's tick is [validFromMs, validUntilMs). With a clock field they are all of one tick and clock id.",
            "{ recheck: true }: nothing is issued; the clock is to be read again. Only where confirmed is false.",
            "{ code, retryAfterMs? }: refused. retryAfterMs is how long until the same call can first succeed; absent where waiting alone does not help (the bindings then report 0).",
            "Each script's IDs are all different, over all its steps.",
        ]),
        "scripts": scripts,
    })
}
