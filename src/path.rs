//! Paths as texts: which of them are one place.

use std::path::{Component, Path, PathBuf};

/// A path as it is from the root, without `.` and `..`.
pub fn absolute(cwd: &Path, path: &str) -> PathBuf {
    // An address is no path, and must stay what it is.
    if path.contains("://") {
        return path.into();
    }
    let mut whole = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}
