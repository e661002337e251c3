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

/// A page for a program and for each of its commands, with what `--help` shows after the flags as it is written.
fn man_pages(command: Command, dir: &Path) -> Result {
    let failed = |error: std::io::Error| format!("{}: {error}", dir.display());
    clap_mangen::generate_to(shown(command), dir).map_err(failed)?;
    for page in fs::read_dir(dir).map_err(failed)? {
        let path = page.map_err(failed)?.path();
        let page = fs::read_to_string(&path).map_err(failed)?;
        let page = page.replace(".SH EXTRA\n", ".SH MORE\n.nf\n");
        let page = page.replace("\n.SH VERSION\n", "\n.fi\n.SH VERSION\n");
        write(&path, page)?;
    }
    Ok(())
}

/// Flags that only `--help` explains are explained.
fn shown(command: Command) -> Command {
    command
        .mut_args(|arg| arg.hide_short_help(false))
        .mut_subcommands(shown)
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
