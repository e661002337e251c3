//! The archive: `tar -xzf … --strip-components 1 -C ~/.local` puts everything in its place.

use std::path::Path;

use super::{Platform, Result, copy, empty, out, tool, version};

pub fn pack(platform: &Platform, tree: &Path) -> Result {
    let name = format!("session-monitor-{}-{}", version(), platform.triple);
    let dir = Path::new("target/trees/archive");
    empty(dir)?;
    copy(tree, &dir.join(&name))?;
    let archive = out(&format!("{name}.tar.gz"));
    let (archive, dir) = (archive.to_string_lossy(), dir.to_string_lossy());
    let nobody: &[&str] = if cfg!(target_os = "macos") {
        &["--uid", "0", "--gid", "0"]
    } else {
        &["--owner=0", "--group=0"]
    };
    let what = ["-czf", &archive, "-C", &dir, &name];
    tool("tar", nobody.iter().chain(&what))
}
