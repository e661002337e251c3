//! `session-context install` and `uninstall`.

use std::io;

use clap::Args;

use super::{Exit, Stage};

#[derive(Debug, Args)]
pub struct InstallArgs {
    pub agent: String,
}

pub fn install(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    stage.say(format_args!("cannot install for {} yet", args.agent))?;
    Ok(Exit::Trouble)
}

pub fn uninstall(args: &InstallArgs, stage: &mut Stage) -> io::Result<Exit> {
    install(args, stage)
}
