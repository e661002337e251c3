//! One line for an agent's status line: who needs the user and why, who failed, how many work, and which files conflict.
//!
//! It says less where there is less room: first shorter reasons, then none, then no names. With nothing to say it is empty.
//! A bar gets the same counts in one line ([`StatusLine::bar`]), and a program gets them as an object.

use super::activity::{called, with_agent};
use super::gate::Gate;
use super::object::{Object, object};
use super::state::{counted, reason, tone};
use super::terminal::{Tone, cut, width};
use crate::ask::status::Status;
use crate::env::iso;
use crate::session::index::Listed;
use crate::session::state::Group;
use session_format::time::Time;

pub struct StatusLine<'s> {
    pub status: &'s Status<'s>,
    pub now: Time,
}

/// More sessions than this are counted and not named.
const NAMED: usize = 3;

/// The groups that are counted, those that concern the user most first.
const COUNTED: [Group; 3] = [Group::NeedsYou, Group::Failed, Group::Working];

/// How wide a name and a reason may be in a bar, which has other things to show.
const BAR_NAME: usize = 24;
const BAR_REASON: usize = 28;

/// A status line is on the screen all day, whoever looks at it.
const GATE: Gate = Gate::new(true);

/// How much is said of a session that is named.
#[derive(Clone, Copy)]
enum Detail {
    /// A reason, so wide at the most.
    Reason(usize),
    Name,
    /// It is only counted.
    Count,
}

impl StatusLine<'_> {
    pub fn fit(&self, room: usize) -> String {
        let details = [
            Detail::Reason(60),
            Detail::Reason(20),
            Detail::Name,
            Detail::Count,
        ];
        let mut lines = details
            .into_iter()
            .map(|detail| GATE.line(self.line(detail)).into_owned());
        let mut line = lines.next().unwrap_or_default();
        while width(&line) > room {
            match lines.next() {
                Some(shorter) => line = shorter,
                None => return cut(&line, room).into_owned(),
            }
        }
        line
    }

    fn line(&self, detail: Detail) -> String {
        let parts = [
            self.group(Group::NeedsYou, detail),
            self.group(Group::Failed, detail),
            self.group(Group::Working, Detail::Count),
            self.status
                .conflicts
                .split_first()
                .map(|(first, others)| match others.len() {
                    0 => format!("! {first}"),
                    others => format!("! {first} +{others}"),
                }),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// `2 need you · 1 failed · api: permission: Bash`: the counts, and the first session that needs the user.
    pub fn bar(&self, marks: BarMarks) -> String {
        let mut parts: Vec<String> = Vec::new();
        for group in COUNTED {
            let members = self.members(group);
            if let Some(first) = members.first() {
                let tone = tone(first.state(self.now).kind);
                parts.push(marks.painted(tone, &counted(group, members.len())));
            }
        }
        parts.extend(self.urgent().next().map(|listed| {
            let name = GATE.line(self.name(listed, Detail::Name)).into_owned();
            let name = cut(&name, BAR_NAME);
            match reason(&listed.state(self.now), Some(self.now)) {
                Some(reason) => {
                    let reason = GATE.command(&reason).into_owned();
                    marks.plain(&format!("{name}: {}", cut(&reason, BAR_REASON)))
                }
                None => marks.plain(&name),
            }
        }));
        parts.join(" · ")
    }

    /// The counts, and the sessions that the user should look at now.
    pub fn object(&self) -> Object {
        let [needs_you, failed, working] = COUNTED.map(|group| self.members(group).len());
        let urgent: Vec<Object> = self.urgent().map(|listed| self.row(listed)).collect();
        object! { needs_you, failed, working, urgent }
    }

    /// Under the keys that a row of the list has, as far as a bar needs them.
    fn row(&self, listed: &Listed) -> Object {
        let state = listed.state(self.now);
        object! {
            id: listed.session.id,
            handle: listed.handle(),
            agent: listed.session.format.label(),
            title: listed.tally.title().map(|title| GATE.hide(title)),
            cwd: listed.tally.cwd(),
            state: state.kind.name(),
            reason: reason(&state, None).map(|reason| GATE.command(&reason).into_owned()),
            since: state.since.map(iso),
        }
    }

    fn members(&self, group: Group) -> Vec<&Listed<'_>> {
        let others = self.status.others.iter();
        others
            .filter(|listed| listed.group(self.now) == group)
            .collect()
    }

    fn urgent(&self) -> impl Iterator<Item = &Listed<'_>> {
        let groups = COUNTED.into_iter().filter(|group| group.is_urgent());
        groups.flat_map(|group| self.members(group))
    }

    /// `2 need you: api (permission: Bash), web`; none if there is no session in the group.
    fn group(&self, group: Group, detail: Detail) -> Option<String> {
        let members = self.members(group);
        let count = counted(group, members.len());
        let mut names: Vec<String> = members
            .iter()
            .take(NAMED)
            .map(|listed| self.name(listed, detail))
            .collect();
        if members.len() > NAMED {
            names.push(format!("+{}", members.len() - NAMED));
        }
        match detail {
            _ if members.is_empty() => None,
            Detail::Count => Some(count),
            _ => Some(format!("{count}: {}", names.join(", "))),
        }
    }

    fn name(&self, listed: &Listed, detail: Detail) -> String {
        let session = &listed.session;
        let agent = self
            .status
            .format
            .is_some_and(|own| session.format.name != own)
            .then(|| session.format.label());
        let name = with_agent(agent, called(listed.name_alone()));
        match (detail, reason(&listed.state(self.now), Some(self.now))) {
            (Detail::Reason(room), Some(reason)) => {
                format!("{name} ({})", cut(&GATE.command(&reason), room))
            }
            _ => name,
        }
    }
}

/// What a bar takes for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarMarks {
    /// None.
    Plain,
    /// `#[fg=red]`. It expands what it is given, so a `#` of our own is written twice.
    Tmux,
}

impl BarMarks {
    fn plain(self, text: &str) -> String {
        match self {
            BarMarks::Plain => text.to_owned(),
            // At the end it would begin the next style.
            BarMarks::Tmux if text.ends_with('#') => text.replace('#', "##") + " ",
            BarMarks::Tmux => text.replace('#', "##"),
        }
    }

    fn painted(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            _ if self == BarMarks::Plain => None,
            Tone::Plain => None,
            Tone::Faint => Some("dim"),
            Tone::Strong => Some("bold"),
            Tone::User => Some("fg=cyan"),
            Tone::Alarm => Some("fg=red"),
            Tone::Call => Some("fg=yellow,bold"),
        };
        let text = self.plain(text);
        style.map_or_else(
            || text.clone(),
            |style| format!("#[{style}]{text}#[default]"),
        )
    }
}
