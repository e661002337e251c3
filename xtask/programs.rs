//! How the two programs are built for people who use them.
//!
//! On Linux each program is linked statically, because a hook runs at every prompt and loading shared libraries is a quarter of
//! what an empty program costs. They are linked to different C libraries: a program starts faster with musl, but musl's
//! allocator is slower, which the hook doesn't use and the reader does.

use std::process::Command;

/// Fixed addresses, so that none has to be worked out at every start. It takes `--target` to leave procedural macros alone.
const STATIC: &str = r#"target.'cfg(target_os="linux")'.rustflags=["-Ctarget-feature=+crt-static","-Crelocation-model=static"]"#;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A program, and what cargo must know to build it.
pub struct Program {
    pub name: &'static str,
    flags: &'static [&'static str],
}

pub const HOOK: Program = Program {
    name: "session-context",
    flags: &[
        "--no-default-features",
        // Smaller code is faster here: most of a hook's time goes by before its pages are there.
        "--config",
        "profile.release.opt-level=2",
    ],
};
pub const READER: Program = Program {
    name: "session-reader",
    flags: &[],
};

impl Program {
    /// This program, as it is released: `cargo install` or `cargo build`.
    pub fn cargo(&self, task: &[&str], target: &str) -> Command {
        let mut cargo = linked(task, target);
        cargo.args(["--bin", self.name]).args(self.flags);
        cargo
    }
}

/// Both programs at once, for a person who waits: everything is compiled once, for one C library, and nothing is optimised
/// across crates. The hook is as fast as in a release; the reader takes a third longer where it reads whole transcripts.
pub fn quick(task: &[&str], target: &str) -> Command {
    let mut cargo = linked(task, target);
    for setting in ["lto=\"off\"", "codegen-units=1"] {
        cargo.args(["--config", &format!("profile.release.{setting}")]);
    }
    cargo
}

/// A task of cargo with static programs that know their commit.
fn linked(task: &[&str], target: &str) -> Command {
    let mut cargo = cargo();
    cargo.args(task);
    cargo.args(["--locked", "--config", STATIC, "--target", target]);
    if let Some(commit) = commit() {
        cargo.env("SESSION_MONITOR_VERSION", format!("{VERSION} ({commit})"));
    }
    cargo
}

/// The commit that is built, if this is a clone.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let done = git.args(["rev-parse", "--short=9", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| commit.trim().to_owned())
}

pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Adds a target to the toolchain.
pub fn add(target: &str) -> bool {
    done(Command::new("rustup").args(["--quiet", "target", "add", target])).is_ok()
}

/// Runs a command, which must end well.
pub fn done(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program}: {error}")),
    }
}
