//! `cargo setup`, `cargo ratios` and `cargo xtask package`.
//!
//! Setup builds both programs and installs them, as `cargo install` does, with its flags (`--root DIR`); `programs.rs` says how.
//! Where rustup can't add musl, both get glibc. Ratios measure the programs as they are released.

#![allow(
    clippy::disallowed_methods,
    reason = "a program of its own, which has no `Env`"
)]

#[cfg(feature = "package")]
mod package;
mod programs;

use std::env::consts::{ARCH, OS};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use programs::{HOOK, READER, cargo, done};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let task = args.next().unwrap_or_default();
    let flags: Vec<OsString> = args.collect();
    let result = match task.to_str() {
        Some("setup") => setup(&flags),
        Some("ratios") => ratios(&flags),
        #[cfg(feature = "package")]
        Some("package") => {
            let names: Vec<_> = flags
                .iter()
                .map(|flag| flag.to_string_lossy().into())
                .collect();
            package::run(&names)
        }
        _ => {
            eprintln!(
                "usage: cargo setup [flags of cargo install] | cargo ratios [-- words] | cargo xtask package [platforms]"
            );
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

const INSTALL: [&str; 3] = ["install", "--path", "."];

fn setup(flags: &[OsString]) -> Result<(), String> {
    done(programs::quick(&INSTALL, &target()).args(flags))
}

/// What the hook is built for, and the reader, too, if both are built at once.
fn target() -> String {
    let musl = format!("{ARCH}-unknown-linux-musl");
    if OS == "linux" && programs::add(&musl) {
        return musl;
    }
    if OS == "linux" {
        eprintln!(
            "rustup can't add {musl}: the hook is linked with glibc and starts a little slower"
        );
    }
    "host-tuple".into()
}

fn ratios(words: &[OsString]) -> Result<(), String> {
    let root = Path::new("target/installed");
    let program = |name: &str| root.join("bin").join(name);
    let mut bench = cargo();
    bench.args(["bench", "--bench", "ratios", "--"]).args(words);
    bench.env("SESSION_CONTEXT", program(HOOK.name));
    bench.env("SESSION_READER", program(READER.name));
    let flags = ["--root".as_ref(), root.as_os_str(), "--force".as_ref()];
    done(HOOK.cargo(&INSTALL, &target()).args(flags))?;
    done(READER.cargo(&INSTALL, "host-tuple").args(flags))?;
    done(&mut bench)
}
