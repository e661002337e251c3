//! One line for an agent's status line: who needs the user and why, who failed, how many work, and which files conflict.
//!
//! It says less where there is less room: first shorter reasons, then none, then no names. With nothing to say it is empty.

use super::activity::{called, with_agent};
use super::gate::Gate;
use super::state::{counted, reason};
use super::terminal::{cut, width};
use crate::ask::status::Status;
use crate::session::index::Listed;
use crate::session::state::Group;
use session_format::time::Time;

pub struct StatusLine<'s> {
    pub status: &'s Status<'s>,
    pub now: Time,
}

/// More sessions than this are counted and not named.
const NAMED: usize = 3;

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

    /// `2 need you: api (permission: Bash), web`; none if there is no session in the group.
    fn group(&self, group: Group, detail: Detail) -> Option<String> {
        let is_in = |listed: &&Listed| {
            Group::of(&listed.state(self.now), &listed.presence, self.now) == group
        };
        let members: Vec<&Listed> = self.status.others.iter().filter(is_in).collect();
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
                format!("{name} ({})", cut(&GATE.line(reason), room))
            }
            _ => name,
        }
    }
}
