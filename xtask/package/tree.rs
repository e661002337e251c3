//! The files of a platform, as they lie below a prefix like `/usr`: programs, man pages, completions, licence and skill.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clap::Command;

use super::{PROGRAMS, Platform, Result, copy, empty, write};
use crate::programs::{self, HOOK, READER};
use session_context::args::Context;
use session_core::env::Env;
use session_core::stage;
use session_reader::args::ReaderArgs;

const COMPLETIONS: &str = "src/reader/completions";

pub fn plant(platform: &Platform) -> Result<PathBuf> {
    let tree = Path::new("target/trees").join(platform.name);
    empty(&tree)?;
    for (program, target) in [&HOOK, &READER].into_iter().zip(platform.targets) {
        // It may be there without rustup.
        programs::add(target);
        let mut build = program.cargo(&["build", "--release"], target);
        // Nothing of it is C, so the linker that comes with Rust does.
        build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
        programs::done(&mut build)?;
        let built = Path::new("target")
            .join(target)
            .join("release")
            .join(program.name);
        copy(&built, &tree.join("bin").join(program.name))?;
    }
    let man = tree.join("share/man/man1");
    empty(&man)?;
    let env = Env::of_process();
    for command in [
        stage::command::<Context>(&env, false),
        stage::command::<ReaderArgs>(&env, false),
    ] {
        man_pages(command, &man)?;
    }
    completions(&tree.join("share"))?;
    copy(
        Path::new("skills"),
        &tree.join("share/session-monitor/skills"),
    )?;
    for page in ["LICENSE", "README.md", "CHANGELOG.md"] {
        let to = tree.join("share/doc/session-monitor").join(page);
        copy(Path::new(page), &to)?;
    }
    Ok(tree)
}

/// A page for a program and for each of its commands.
fn man_pages(command: Command, dir: &Path) -> Result {
    clap_mangen::generate_to(command, dir).map_err(|error| format!("{}: {error}", dir.display()))
}

/// One script serves both programs, but bash and fish look for a file with the name of the program.
fn completions(share: &Path) -> Result {
    let script = |shell: &str| {
        let path = Path::new(COMPLETIONS).join(shell);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    write(
        &share.join("zsh/site-functions/_session-reader"),
        script("zsh")?,
    )?;
    for (shell, dir, end) in [
        ("bash", "bash-completion/completions", ""),
        ("fish", "fish/vendor_completions.d", ".fish"),
    ] {
        let [context, reader] = PROGRAMS.map(|program| format!("{program}{end}"));
        write(&share.join(dir).join(&reader), script(shell)?)?;
        let link = share.join(dir).join(context);
        symlink(reader, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    }
    Ok(())
}
