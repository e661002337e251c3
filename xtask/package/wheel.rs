//! The package for pip, pipx and uv. It has no Python in it, and Python writes it: a wheel is a zip with a list of its files.

use std::path::Path;

use super::{DESCRIPTION, Platform, REPOSITORY, Result, copy, empty, out, tool, version, write};

/// `uvx session-monitor` runs the program that is called like the package.
const CALLED_LIKE_THE_PACKAGE: &str =
    "#!/bin/sh\nexec \"$(dirname \"$0\")/session-reader\" \"$@\"\n";

pub fn pack(platform: &Platform, tree: &Path) -> Result {
    let root = Path::new("target/trees/wheel");
    empty(root)?;
    let name = format!("session_monitor-{}", version());
    let data = root.join(format!("{name}.data"));
    copy(&tree.join("bin"), &data.join("scripts"))?;
    write(
        &data.join("scripts/session-monitor"),
        CALLED_LIKE_THE_PACKAGE,
    )?;
    copy(&tree.join("share"), &data.join("data/share"))?;
    let info = root.join(format!("{name}.dist-info"));
    let readme =
        std::fs::read_to_string("README.md").map_err(|error| format!("README.md: {error}"))?;
    let metadata = format!(
        "Metadata-Version: 2.4\n\
         Name: session-monitor\n\
         Version: {}\n\
         Summary: {DESCRIPTION}\n\
         License-Expression: MIT\n\
         License-File: LICENSE\n\
         Project-URL: Repository, {REPOSITORY}\n\
         Requires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{readme}",
        version()
    );
    let tags: Vec<String> = platform
        .wheel
        .split('.')
        .map(|tag| format!("Tag: py3-none-{tag}\n"))
        .collect();
    let wheel = format!(
        "Wheel-Version: 1.0\nGenerator: session-monitor\nRoot-Is-Purelib: false\n{}",
        tags.concat()
    );
    write(&info.join("METADATA"), metadata)?;
    write(&info.join("WHEEL"), wheel)?;
    copy(Path::new("LICENSE"), &info.join("licenses/LICENSE"))?;
    let file = out(&format!("{name}-py3-none-{}.whl", platform.wheel));
    tool(
        "python3",
        [
            "xtask/package/wheel.py".as_ref(),
            root.as_os_str(),
            file.as_os_str(),
        ],
    )
}
