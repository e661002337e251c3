//! Where a session's agent runs: its process, its terminal, and the pane or window that a person would go to.
//!
//! An agent may say the pane itself; else its environment does, which only its own user can read. Whatever is said there is
//! checked before anybody uses it: a pane is a number, and a socket is a file of this user.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::live::Presence;
use crate::file;
use crate::process;
use session_format::entry::named;
use session_format::format::live::Status;

/// The place of an agent that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPlace {
    pub pid: u32,
    pub tty: Option<String>,
    pub pane: Option<Pane>,
    /// The program of its terminal, in that program's own words.
    pub terminal: Option<String>,
}

/// A pane of a program that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    pub within: Multiplexer,
    /// The number that it has there: `%3` in tmux.
    pub id: String,
    /// The socket, or the name of the session there, by which that program is reached. Without one it is the usual.
    pub server: Option<String>,
}

named! {
    /// A program with panes, tabs or windows of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Multiplexer {
        Tmux = "tmux",
        Zellij = "zellij",
        Herdr = "herdr",
        WezTerm = "wezterm",
        Kitty = "kitty",
    }
}

/// The variables that each sets: of the pane, and of the server or session where a pane is reached by it. Those within others
/// come first.
const VARIABLES: [(Multiplexer, &str, &str); 5] = [
    (Multiplexer::Tmux, "TMUX_PANE", "TMUX"),
    (Multiplexer::Zellij, "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME"),
    (Multiplexer::Herdr, "HERDR_PANE_ID", ""),
    (Multiplexer::WezTerm, "WEZTERM_PANE", ""),
    (Multiplexer::Kitty, "KITTY_WINDOW_ID", ""),
];
const TERMINAL: &str = "TERM_PROGRAM";

/// The place of an agent, if it runs and its process is known.
pub fn place(presence: &Presence) -> Option<AgentPlace> {
    let Presence::Runs(report) = presence else {
        return None;
    };
    // It runs, but has another session open by now.
    if report.status == Some(Status::Ended) {
        return None;
    }
    let pid = report.pid.filter(|pid| process::started(*pid).is_some())?;
    let names = VARIABLES
        .iter()
        .flat_map(|(_, pane, server)| [*pane, *server]);
    let names: Vec<&str> = names.chain([TERMINAL]).collect();
    let variables = process::variables(pid, &names);
    let text = |name: &str| {
        variables
            .get(name)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    };
    let own = VARIABLES.iter().find_map(|(within, pane, server)| {
        let pane = Pane::checked(*within, text(pane)?, text(server));
        pane.filter(|pane| pane.within != Multiplexer::Tmux || pane.server.is_some())
    });
    // It has moved to another pane since it was started, perhaps.
    let said = report
        .pane
        .as_deref()
        .and_then(|said| said.rsplit_once('.'));
    let said = said.and_then(|(_, id)| Pane::checked(Multiplexer::Tmux, id, text("TMUX")));
    // Within one of these, the outer terminal is another matter.
    let terminal = text(TERMINAL).filter(|name| *name != Multiplexer::Tmux.name());
    let above = process::terminal_program(pid);
    // A terminal that was opened from a pane of tmux hands the variables of that pane down.
    let is_there = |pane: &Pane| {
        let is_tmux = |program: &String| program.starts_with(Multiplexer::Tmux.name());
        pane.within != Multiplexer::Tmux || above.as_ref().is_none_or(is_tmux)
    };
    let tty = process::tty(pid);
    // One without a terminal is a helper that serves several, wherever it was started.
    let pane = said.or(own).filter(|pane| tty.is_some() && is_there(pane));
    let terminal = terminal.map(str::to_owned).or(above);
    Some(AgentPlace {
        pid,
        tty,
        pane,
        terminal,
    })
}

impl Pane {
    /// A pane, if these are its number and its server.
    pub fn checked(within: Multiplexer, id: &str, server: Option<&str>) -> Option<Pane> {
        let number = match within {
            Multiplexer::Tmux => id.strip_prefix('%')?,
            Multiplexer::Zellij => id.strip_prefix("terminal_").unwrap_or(id),
            _ => id,
        };
        let is_number = |text: &str| {
            (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        // Herdr's are words like `w1.p2`.
        let is_word = |text: &str| {
            text.len() <= 64
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let is_sound = match within {
            Multiplexer::Herdr => {
                is_word(number) && number.starts_with(|first: char| first.is_ascii_alphanumeric())
            }
            _ => is_number(number),
        };
        let server = match within {
            // `/tmp/tmux-1000/default,4242,0`
            Multiplexer::Tmux => server
                .and_then(|server| server.split(',').next())
                .filter(|path| is_own_socket(Path::new(path))),
            Multiplexer::Zellij => {
                server.filter(|name| is_word(name) && !name.starts_with(['-', '.']))
            }
            _ => None,
        };
        is_sound.then(|| Pane {
            within,
            id: id.to_owned(),
            server: server.map(str::to_owned),
        })
    }

    /// The socket of the server, for tmux. It is looked at again: it may have become something else.
    pub fn socket(&self) -> Option<PathBuf> {
        let server = self.server.as_ref().map(PathBuf::from);
        server.filter(|path| self.within == Multiplexer::Tmux && is_own_socket(path))
    }
}

/// A socket of this user, named from the root on.
fn is_own_socket(path: &Path) -> bool {
    let meta = file::lstat(path).ok().flatten();
    path.is_absolute()
        && meta.is_some_and(|meta| {
            meta.file_type().is_socket() && meta.uid() == rustix::process::geteuid().as_raw()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_and_plain_words_name_a_pane() {
        let id = |within, id| Pane::checked(within, id, None).map(|pane| pane.id);
        for (within, sound) in [
            (Multiplexer::Tmux, "%12"),
            (Multiplexer::Zellij, "3"),
            (Multiplexer::Zellij, "terminal_3"),
            (Multiplexer::Herdr, "w1.p2"),
            (Multiplexer::WezTerm, "0"),
            (Multiplexer::Kitty, "7"),
        ] {
            assert_eq!(id(within, sound).as_deref(), Some(sound));
        }
        for within in Multiplexer::ALL {
            for odd in [
                "",
                "%",
                "-1",
                "--help",
                "1;rm",
                "$(id)",
                "% 1",
                "1\n2",
                "%12345678901",
                "../x",
            ] {
                assert_eq!(id(within, odd), None, "{within:?} {odd:?}");
            }
        }
        assert_eq!(id(Multiplexer::Tmux, "12"), None);
    }

    #[test]
    fn a_server_is_a_socket_of_this_user() {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("default");
        let server = |said: &str| {
            Pane::checked(Multiplexer::Tmux, "%1", Some(said)).and_then(|pane| pane.server)
        };
        let path = socket.to_str().expect("a path");
        assert_eq!(server(&format!("{path},42,0")), None);
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        assert_eq!(server(&format!("{path},42,0")).as_deref(), Some(path));
        assert_eq!(server("default,42,0"), None);
        assert_eq!(server("/etc/passwd,42,0"), None);
    }
}
