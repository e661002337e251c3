//! The package for Debian and Ubuntu. The programs are static, so it depends on nothing.

use std::path::Path;

use super::{DESCRIPTION, REPOSITORY, Result, copy, empty, out, tool, version, write};

pub fn pack(architecture: &str, tree: &Path) -> Result {
    let root = Path::new("target/trees/deb");
    empty(root)?;
    copy(tree, &root.join("usr"))?;
    let share = root.join("usr/share");
    // Debian has other places for two of them.
    let doc = share.join("doc/session-monitor");
    rename(
        &share.join("zsh/site-functions"),
        &share.join("zsh/vendor-completions"),
    )?;
    rename(&doc.join("LICENSE"), &doc.join("copyright"))?;
    rename(&doc.join("CHANGELOG.md"), &doc.join("changelog"))?;
    let man = share.join("man/man1");
    let pages = [
        &*man.to_string_lossy(),
        &*doc.join("changelog").to_string_lossy(),
    ]
    .map(str::to_owned);
    tool("gzip", ["-9nr".to_owned()].iter().chain(&pages))?;
    let size = kilobytes(&root.join("usr"))?;
    let control = format!(
        "Package: session-monitor\n\
         Version: {}\n\
         Architecture: {architecture}\n\
         Maintainer: session-monitor <{REPOSITORY}>\n\
         Installed-Size: {size}\n\
         Section: utils\n\
         Priority: optional\n\
         Homepage: {REPOSITORY}\n\
         Description: {DESCRIPTION}\n \
         Reads the transcripts that Claude Code, Codex, Copilot, Gemini, Pi and Qwen\n \
         write. No daemon, no database, no network.\n",
        version()
    );
    write(&root.join("DEBIAN/control"), control)?;
    let package = out(&format!("session-monitor_{}_{architecture}.deb", version()));
    let args = ["--root-owner-group", "-Zxz", "--build"].map(AsRef::as_ref);
    tool(
        "dpkg-deb",
        args.into_iter()
            .chain([root.as_os_str(), package.as_os_str()]),
    )
}

fn rename(from: &Path, to: &Path) -> Result {
    std::fs::rename(from, to).map_err(|error| format!("{}: {error}", from.display()))
}

fn kilobytes(dir: &Path) -> Result<u64> {
    let done = std::process::Command::new("du")
        .arg("-sk")
        .arg(dir)
        .output();
    let text = done.map_err(|error| format!("du: {error}"))?.stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    let first = text
        .split_whitespace()
        .next()
        .and_then(|size| size.parse().ok());
    first.ok_or_else(|| format!("du: {text}"))
}
