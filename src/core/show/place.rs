//! Where a session's agent runs, in words and for a program.

use super::gate::Gate;
use super::object::{Object, object};
use crate::session::place::{AgentPlace, Multiplexer, Pane};

/// `tmux pane %3`, or the terminal and the process.
pub fn words(place: &AgentPlace) -> String {
    let AgentPlace {
        pid,
        tty,
        pane,
        terminal,
    } = place;
    let gate = Gate::new(true);
    if let Some(Pane { within, id, server }) = pane {
        let part = match within {
            Multiplexer::Kitty => "window",
            _ => "pane",
        };
        // One server is as a rule the only one.
        let server = server
            .as_ref()
            .filter(|server| !server.ends_with("/default"))
            .map_or_else(String::new, |server| format!(" of {}", gate.line(server)));
        return format!("{} {part} {id}{server}", within.name());
    }
    let terminal = terminal
        .as_ref()
        .map_or_else(String::new, |terminal| format!("{}, ", gate.line(terminal)));
    let tty = tty
        .as_ref()
        .map_or_else(String::new, |tty| format!("{tty}, "));
    format!("{terminal}{tty}process {pid}")
}

/// With the pane under the name of the program that it is in.
pub fn json(place: &AgentPlace) -> Object {
    let AgentPlace {
        pid,
        tty,
        pane,
        terminal,
    } = place;
    let mut all = object! { pid, tty, terminal }.without_nulls();
    if let Some(Pane { within, id, server }) = pane {
        let pane = object! { pane: id, server }.without_nulls();
        all.0
            .extend(pane.0.into_iter().map(|(key, value)| match key {
                "pane" => (within.name(), value),
                key => (key, value),
            }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_named_and_else_the_terminal_and_the_process() {
        let place = |pane| AgentPlace {
            pid: 42,
            tty: Some("/dev/pts/3".into()),
            pane,
            terminal: Some("\u{1b}[2Jghostty".into()),
        };
        let pane = |within, id: &str, server: Option<&str>| {
            Some(Pane {
                within,
                id: id.into(),
                server: server.map(str::to_owned),
            })
        };
        let rows = [
            (None, "ghostty, /dev/pts/3, process 42"),
            (
                pane(Multiplexer::Tmux, "%3", Some("/tmp/tmux-0/default")),
                "tmux pane %3",
            ),
            (
                pane(Multiplexer::Tmux, "%3", Some("/tmp/tmux-0/work")),
                "tmux pane %3 of /tmp/tmux-0/work",
            ),
            (pane(Multiplexer::Kitty, "7", None), "kitty window 7"),
        ];
        for (pane, expected) in rows {
            assert_eq!(words(&place(pane)), expected);
        }
        let shown = json(&place(pane(Multiplexer::Tmux, "%3", Some("/tmp/x"))));
        assert_eq!(
            serde_json::to_string(&shown).expect("JSON"),
            r#"{"pid":42,"tty":"/dev/pts/3","terminal":"\u001b[2Jghostty","tmux":"%3","server":"/tmp/x"}"#
        );
    }
}
