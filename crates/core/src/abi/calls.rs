//! Numbers with names: what the calls `lease` and `segment` do, and what they answer.

/// A module with the number of each name, and a list of the names.
macro_rules! numbered_calls {
    (
        $(#[doc = $module_doc:literal])+ $module:ident;
        $(#[doc = $list_doc:literal])+ $list:ident: $count:literal;
        $(random: $($random:ident),+;)?
        $($(#[doc = $doc:literal])+ $name:ident = $number:literal;)+
    ) => {
        $(#[doc = $module_doc])+
        pub mod $module {
            $($(#[doc = $doc])+ pub const $name: u32 = $number;)+

            $(
                /// Whether a call reads the slot `RANDOM`. If it asks a store, the numbers must come from the kernel where there is one:
                /// two copies of a restored virtual machine must not draw the same numbers.
                #[must_use]
                pub const fn reads_random(call: u32) -> bool {
                    matches!(call, $($random)|+)
                }
            )?
        }

        $(#[doc = $list_doc])+
        pub const $list: [&str; $count] = [$(stringify!($name)),+];

        // The compiler checks that each number is the place in the list.
        const _: () = {
            let (numbers, mut at) = ([$($module::$name),+], 0);
            while at < numbers.len() {
                assert!(numbers[at] as usize == at, "a name has another number than its place");
                at += 1;
            }
        };
    };
}
pub(super) use numbered_calls;
