//! `session-reader capabilities`: what this build can do, for a program that has to find out before it asks.

use clap::Command;

use super::args::{CapabilitiesArgs, ReaderArgs};
use super::{Exit, Problem, Stage, command, mcp};
use session_core::show::object::object;

pub fn run(args: &CapabilitiesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let reader = command::<ReaderArgs>(stage.env, false);
    let names = |commands: &[&Command]| -> Vec<String> {
        let names = commands.iter().map(|command| command.get_name().to_owned());
        names.collect()
    };
    // One that begins so is for scripts of ours alone.
    let is_for_users = |command: &&Command| !command.get_name().starts_with('_');
    let commands: Vec<&Command> = reader.get_subcommands().filter(is_for_users).collect();
    let prints_json = |command: &&&Command| {
        let mut flags = command.get_arguments().filter_map(clap::Arg::get_long);
        flags.any(|flag| flag == "json" || flag == "format")
    };
    let json: Vec<&Command> = commands.iter().filter(prints_json).copied().collect();
    let (commands, json) = (names(&commands), names(&json));
    let formats = stage.formats.iter();
    let formats: Vec<&str> = formats.map(|format| &*format.name).collect();
    let (version, tools) = (env!("CARGO_PKG_VERSION"), mcp::names());
    if args.json {
        let mcp = object! { tools };
        return stage.print_json(&object! { version, commands, json, formats, mcp });
    }
    stage.print_lines([
        format!("version   {version}"),
        format!("commands  {}", commands.join(", ")),
        format!("--json    {}", json.join(", ")),
        format!("formats   {}", formats.join(", ")),
        format!("mcp       {}", tools.join(", ")),
    ])
}
