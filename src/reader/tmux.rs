//! Asks a server of tmux to do something. Arguments are a list of words, and a server that does not answer is given up.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::as_command;
use session_core::process;

const LIMIT: Duration = Duration::from_secs(5);

/// A server of tmux: the one with this socket, or the usual.
pub struct Tmux {
    pub program: PathBuf,
    pub socket: Option<PathBuf>,
}

impl Tmux {
    /// A command of this server, in words.
    pub fn words(&self, command: &[impl AsRef<OsStr>]) -> Vec<OsString> {
        let socket = self
            .socket
            .iter()
            .flat_map(|socket| ["-S".into(), socket.into()]);
        let start = std::iter::once(self.program.clone().into_os_string()).chain(socket);
        start
            .chain(command.iter().map(|word| word.as_ref().to_owned()))
            .collect()
    }

    /// Runs a command, and returns what it prints.
    pub fn run(&self, command: &[impl AsRef<OsStr>]) -> Result<String, String> {
        let done = process::answer(&mut as_command(&self.words(command)), LIMIT);
        let done = done.map_err(|error| format!("tmux: {error}"))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if done.status.success() {
            Ok(said(&done.stdout))
        } else {
            Err(format!("tmux: {}", said(&done.stderr)))
        }
    }
}
