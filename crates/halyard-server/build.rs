//! Chooses what the server serves at its root: the dashboard where it has been built, and otherwise
//! a page that says how to build it, so that `cargo build` needs no Node.js.

use std::path::Path;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = here.join("../../dashboard/built");
    let page = built.join("dist");
    let folder = if page.join("index.html").exists() { page } else { here.join("stub") };
    println!("cargo:rerun-if-changed={}", built.display());
    println!("cargo:rustc-env=HALYARD_DASHBOARD={}", folder.display());
}
