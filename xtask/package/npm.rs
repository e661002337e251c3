//! The packages for npm: one for each platform with the programs, and one that depends on all of them, of which npm installs the
//! one that fits. No script runs when they are installed, and nothing is downloaded but by npm.
//!
//! The main one is what the repository itself is for Pi (`package.json`: an extension and a skill), with the programs.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{
    PLATFORMS, PROGRAMS, Platform, REPOSITORY, Result, copy, empty, out, tool, version, write,
};

const LAUNCHER: &str = include_str!("launch.js");

fn package(platform: &Platform) -> String {
    format!("@session-monitor/{}", platform.name)
}

pub fn pack_platform(platform: &Platform, tree: &Path) -> Result {
    let (os, cpu) = platform
        .name
        .split_once('-')
        .ok_or("a platform is OS-CPU")?;
    let root = Path::new("target/trees/npm");
    empty(root)?;
    copy(&tree.join("bin"), &root.join("bin"))?;
    copy(&tree.join("share"), &root.join("share"))?;
    pack(
        root,
        json!({
            "name": package(platform),
            "version": version(),
            "description": format!("The programs of session-monitor for {os} on {cpu}"),
            "license": "MIT",
            "repository": REPOSITORY,
            "os": [os],
            "cpu": [cpu],
            "files": ["bin", "share"],
        }),
    )
}

pub fn pack_main() -> Result {
    let root = Path::new("target/trees/npm");
    empty(root)?;
    let own = std::fs::read_to_string("package.json")
        .map_err(|error| format!("package.json: {error}"))?;
    let mut about: Map<String, Value> =
        serde_json::from_str(&own).map_err(|error| format!("package.json: {error}"))?;
    about.remove("private");
    let programs = PLATFORMS
        .each_ref()
        .map(|platform| (package(platform), json!(version())));
    about.extend([
        ("version".into(), json!(version())),
        ("repository".into(), json!(REPOSITORY)),
        // npx runs the program that is called like the package.
        (
            "bin".into(),
            json!({
                "session-context": "bin/session-context.js",
                "session-reader": "bin/session-reader.js",
                "session-monitor": "bin/session-reader.js",
            }),
        ),
        (
            "optionalDependencies".into(),
            Map::from_iter(programs).into(),
        ),
        ("files".into(), json!(["bin", "pi", "skills"])),
    ]);
    for name in PROGRAMS {
        write(&root.join(format!("bin/{name}.js")), LAUNCHER)?;
    }
    for part in ["pi", "skills", "README.md", "LICENSE"] {
        copy(Path::new(part), &root.join(part))?;
    }
    pack(root, about.into())
}

fn pack(root: &Path, about: Value) -> Result {
    write(&root.join("package.json"), format!("{about:#}\n"))?;
    let to: PathBuf = out("").canonicalize().map_err(|error| error.to_string())?;
    let dir = root.canonicalize().map_err(|error| error.to_string())?;
    let args = ["pack", "--silent", "--pack-destination"].map(AsRef::as_ref);
    tool(
        "npm",
        args.into_iter().chain([to.as_os_str(), dir.as_os_str()]),
    )
}
