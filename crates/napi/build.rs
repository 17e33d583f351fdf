//! Tells the linker that the Node-API symbols come from the process that loads the addon.

fn main() {
    napi_build::setup();
}
