//! What the linker has to know about the addon.

fn main() {
    // The Node-API symbols come from the process that loads the addon.
    napi_build::setup();
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Never unloaded, so that the states outlive the last worker thread that used them. `napi-build` says this for glibc only.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // A copy that a program loads for all libraries to see (`RTLD_GLOBAL`) must not lend its symbols to this one.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
