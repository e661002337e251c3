//! The Homebrew formula, with the checksums of the archives. It has never been run.

use super::{Result, out, version, write as write_file};

const FORMULA: &str = include_str!("session-monitor.rb");

/// Fills in what is known. The archives for macOS are built on a Mac, so here some checksums may be missing.
pub fn write(sums: &str) -> Result {
    let mut formula = FORMULA.replace("VERSION", version());
    for line in sums.lines() {
        if let Some((sum, file)) = line.split_once("  ")
            && let Some(name) = file.strip_suffix(".tar.gz")
            && let Some(triple) = name.strip_prefix(&format!("session-monitor-{}-", version()))
        {
            formula = formula.replace(&format!("SHA256 {triple}"), sum);
        }
    }
    write_file(&out("session-monitor.rb"), formula)
}
