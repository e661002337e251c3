//! `cargo xtask package [PLATFORM]…`: everything that is released, in `target/packages/`, with the checksums of all.
//!
//! Each platform is built once, into a tree as below `/usr`; every kind of package is made of that tree, by the tool that its
//! users have: tar, dpkg-deb, Python and npm. `.ci/packages` installs each into an empty environment.

mod archive;
mod deb;
mod homebrew;
mod npm;
mod tree;
mod wheel;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{self, VERSION};

pub type Result<T = ()> = std::result::Result<T, String>;

pub const PROGRAMS: [&str; 2] = ["session-context", "session-reader"];
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
pub const DESCRIPTION: &str =
    "Tells a coding agent what happened in its other sessions, and reads any of them";
const OUT: &str = "target/packages";

/// A system that there are packages for, as each kind of package calls it.
#[derive(Debug)]
pub struct Platform {
    /// As npm calls the system and the processor, and as it is named on the command line.
    pub name: &'static str,
    /// What the hook and the reader are built for.
    pub targets: [&'static str; 2],
    /// What it is called in the name of an archive. A static program runs on any Linux.
    pub triple: &'static str,
    pub wheel: &'static str,
    pub deb: Option<&'static str>,
}

/// Why the reader gets glibc where that can be had is in `programs.rs`. For arm64 it takes a compiler for arm64, musl takes none.
const PLATFORMS: [Platform; 4] = [
    Platform {
        name: "linux-x64",
        targets: ["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"],
        triple: "x86_64-unknown-linux-musl",
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        deb: Some("amd64"),
    },
    Platform {
        name: "linux-arm64",
        targets: ["aarch64-unknown-linux-musl"; 2],
        triple: "aarch64-unknown-linux-musl",
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        deb: Some("arm64"),
    },
    Platform {
        name: "darwin-x64",
        targets: ["x86_64-apple-darwin"; 2],
        triple: "x86_64-apple-darwin",
        wheel: "macosx_10_12_x86_64",
        deb: None,
    },
    Platform {
        name: "darwin-arm64",
        targets: ["aarch64-apple-darwin"; 2],
        triple: "aarch64-apple-darwin",
        wheel: "macosx_11_0_arm64",
        deb: None,
    },
];

pub fn run(wanted: &[String]) -> Result {
    let unknown = |name: &&String| !PLATFORMS.iter().any(|platform| platform.name == **name);
    if let Some(name) = wanted.iter().find(unknown) {
        let names = PLATFORMS.map(|platform| platform.name).join(", ");
        return Err(format!("{name}: no such platform; there are: {names}"));
    }
    // Those that this machine can build.
    let own = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let is_wanted = |platform: &&Platform| match wanted {
        [] => platform.name.starts_with(own),
        names => names.iter().any(|name| name == platform.name),
    };
    empty(Path::new(OUT))?;
    for platform in PLATFORMS.iter().filter(is_wanted) {
        eprintln!("{}: building", platform.name);
        let tree = tree::plant(platform)?;
        archive::pack(platform, &tree)?;
        wheel::pack(platform, &tree)?;
        npm::pack_platform(platform, &tree)?;
        if let Some(architecture) = platform.deb {
            deb::pack(architecture, &tree)?;
        }
    }
    npm::pack_main()?;
    let sums = sums()?;
    write(&out("SHA256SUMS"), &sums)?;
    homebrew::write(&sums)?;
    eprint!("{sums}");
    Ok(())
}

/// The checksum of every package, as `sha256sum -c` reads them.
fn sums() -> Result<String> {
    let mut names: Vec<String> = fs::read_dir(OUT)
        .map_err(|error| format!("{OUT}: {error}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names.retain(|name| Path::new(OUT).join(name).is_file());
    let program: &[&str] = if cfg!(target_os = "macos") {
        &["shasum", "-a", "256"]
    } else {
        &["sha256sum"]
    };
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(names).current_dir(OUT);
    let done = command
        .output()
        .map_err(|error| format!("{}: {error}", program[0]))?;
    String::from_utf8(done.stdout).map_err(|error| error.to_string())
}

pub fn out(name: &str) -> PathBuf {
    Path::new(OUT).join(name)
}

/// A directory that is there and has nothing in it.
pub fn empty(dir: &Path) -> Result {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))
}

/// Writes a file, and the directories that it needs.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(path, content))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file with its mode, or a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result {
    let dir = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    tool("cp", ["-R".as_ref(), from.as_os_str(), to.as_os_str()])
}

/// Runs a program that must be there and end well.
pub fn tool<I: IntoIterator<Item: AsRef<OsStr>>>(program: &str, args: I) -> Result {
    programs::done(Command::new(program).args(args))
        .map_err(|why| format!("{why}; is {program} installed?"))
}

pub fn version() -> &'static str {
    VERSION
}
