//! The platforms on which state files are proven.
//!
//! Proven means that the whole of this crate's tests ran on a real system of the platform, on record:
//! `docs/proofs/local-platforms.json`, which `npm run test:local-platform` writes. An emulator (wine, qemu) is no such system: it
//! shows that the code runs, and not that locks, flushes and mapped memory there do what the code relies on.
//! `tests-js/packaging/platforms.test.mjs` compares the lists with the record.

use frazil::Code;
use frazil::error::Subject;

use crate::fault::Fault;

/// The platforms with a record of a real system, as `process.platform`, `process.arch` and on Linux the C library name them.
pub(crate) const PROVEN: &[&str] = &["linux-x64-gnu", "linux-x64-musl"];

/// The platforms whose only records are of an emulator, with its name.
pub(crate) const EMULATED: &[(&str, &str)] = &[("win32-x64", "wine 8.0")];

const OS: &str = if cfg!(target_os = "macos") {
    "darwin"
} else if cfg!(windows) {
    "win32"
} else {
    "linux"
};
const ARCH: &str = if cfg!(target_arch = "x86_64") {
    "x64"
} else if cfg!(target_arch = "aarch64") {
    "arm64"
} else if cfg!(target_arch = "arm") {
    "arm"
} else if cfg!(target_arch = "x86") {
    "ia32"
} else {
    "other"
};
const C_LIBRARY: &str = if cfg!(target_env = "musl") { "musl" } else { "gnu" };

/// A platform: the system, the processor and on Linux the C library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Platform {
    os: &'static str,
    arch: &'static str,
    c_library: Option<&'static str>,
}

/// The platform that this is compiled for.
pub(crate) const THIS: Platform =
    Platform { os: OS, arch: ARCH, c_library: if cfg!(target_os = "linux") { Some(C_LIBRARY) } else { None } };

impl Platform {
    fn name(self) -> String {
        let Self { os, arch, c_library } = self;
        c_library.map_or_else(|| format!("{os}-{arch}"), |library| format!("{os}-{arch}-{library}"))
    }
}

/// Refuses a platform that is not proven, unless the caller accepts it.
pub(crate) fn check(platform: Platform, accepted: bool) -> Result<(), Fault> {
    let name = platform.name();
    if accepted || PROVEN.contains(&name.as_str()) {
        return Ok(());
    }
    let Platform { os, arch, .. } = platform;
    let emulator = EMULATED.iter().find(|(emulated, _)| *emulated == name);
    let why = emulator.map_or_else(
        || "No run of its tests there is on record.".to_owned(),
        |(_, emulator)| format!("Its tests ran there only under {emulator}, and on no real system."),
    );
    let text = format!("Snowflake.local() is proven on {}, and this is {name}", PROVEN.join(" and "));
    let hint = format!(
        "{why} If locks, flushes or shared memory are different here, IDs can repeat. Write new Snowflake({{ node }}) for one process, or \
         lease(store) for several. Or accept the risk, for this platform alone: Snowflake.local({{ acceptUnprovenPlatform: \
         process.platform === \"{os}\" && process.arch === \"{arch}\" }})."
    );
    Err(Fault::new(Code::UnprovenPlatform, Subject::AcceptUnprovenPlatform, text, hint))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    const WINDOWS: Platform = Platform { os: "win32", arch: "x64", c_library: None };
    const GLIBC: Platform = Platform { os: "linux", arch: "x64", c_library: Some("gnu") };

    #[test]
    fn a_platform_that_is_not_proven_takes_a_caller_who_accepts_it() {
        assert_eq!(check(GLIBC, false), Ok(()));
        assert_eq!(check(WINDOWS, true), Ok(()));
        let fault = check(WINDOWS, false).unwrap_err();
        assert_eq!((fault.code(), fault.error().field()), (Code::UnprovenPlatform, "accept_unproven_platform"));
        for text in PROVEN.iter().chain(&[
            "this is win32-x64",
            "new Snowflake({ node })",
            "lease(store)",
            "acceptUnprovenPlatform: process.platform === \"win32\" && process.arch === \"x64\"",
        ]) {
            assert!(fault.explained().contains(text), "{text}: {fault}");
        }
    }
}
