//! `cargo setup` and `cargo ratios`.
//!
//! Setup builds both programs and installs them, as `cargo install` does, with its flags (`--root DIR`). On Linux each program is
//! linked statically, because a hook runs at every prompt and loading shared libraries is a quarter of what an empty program
//! costs. They are linked to different C libraries: a program starts faster with musl, but musl's allocator is slower, which the
//! hook doesn't use and the reader does. Where rustup can't add musl, both get glibc.
//!
//! Ratios measure the programs that setup installs.

#![allow(
    clippy::disallowed_methods,
    reason = "a program of its own, which has no `Env`"
)]

use std::env::consts::{ARCH, OS};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Fixed addresses, so that none has to be worked out at every start. It takes `--target` to leave procedural macros alone.
const STATIC: &str = r#"target.'cfg(target_os="linux")'.rustflags=["-Ctarget-feature=+crt-static","-Crelocation-model=static"]"#;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let task = args.next().unwrap_or_default();
    let flags: Vec<OsString> = args.collect();
    let done = match task.to_str() {
        Some("setup") => setup(&flags),
        Some("ratios") => ratios(&flags),
        _ => {
            eprintln!("usage: cargo setup [flags of cargo install] | cargo ratios [-- words]");
            return ExitCode::from(2);
        }
    };
    if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn setup(flags: &[OsString]) -> bool {
    let musl = format!("{ARCH}-unknown-linux-musl");
    let has_musl =
        OS == "linux" && is_done(Command::new("rustup").args(["--quiet", "target", "add", &musl]));
    if OS == "linux" && !has_musl {
        eprintln!(
            "rustup can't add {musl}: the hook is linked with glibc and starts a little slower"
        );
    }
    let target = if has_musl { &musl } else { "host-tuple" };
    let hook = [
        "--bin",
        "session-context",
        "--no-default-features",
        "--target",
        target,
        // Smaller code is faster here: most of a hook's time goes by before its pages are there.
        "--config",
        "profile.release.opt-level=2",
    ];
    let reader = ["--bin", "session-reader", "--target", "host-tuple"];
    install(&hook, flags) && install(&reader, flags)
}

fn install(program: &[&str], flags: &[OsString]) -> bool {
    let mut install = cargo();
    install.args(["install", "--path", ".", "--locked", "--config", STATIC]);
    is_done(install.args(program).args(flags))
}

fn ratios(words: &[OsString]) -> bool {
    let root = Path::new("target/installed");
    let program = |name: &str| root.join("bin").join(name);
    let mut bench = cargo();
    bench.args(["bench", "--bench", "ratios", "--"]).args(words);
    bench.env("SESSION_CONTEXT", program("session-context"));
    bench.env("SESSION_READER", program("session-reader"));
    setup(&["--root".into(), root.into(), "--force".into()]) && is_done(&mut bench)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn is_done(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
