//! What a session waits for, whole: the command, the plan, the questions with their answers, the edit.
//!
//! The list and the screen know it in a line, from the transcript's end. This reads the call itself, when somebody asks.

use std::path::Path;

use crate::fold::Doing;
use crate::read::{self, Transcript, Wanted};
use crate::session::index::Listed;
use crate::session::live::Presence;
use crate::session::place::{AgentPlace, place};
use crate::session::state::Reason;
use crate::session::{Session, State, find};
use session_format::entry::{Act, Call, What, named};
use session_format::time::Time;

named! {
    /// The user's part in it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PendingKind {
        Permission = "permission",
        Question = "question",
        Plan = "plan",
    }
}

#[derive(Debug)]
pub struct Pending {
    pub kind: PendingKind,
    /// With all that it is called with, if the transcript has it already.
    pub call: Call<'static>,
}

/// What is worth knowing of a session that runs, beside what a list has: what it waits for, and where it is.
#[derive(Debug, Default)]
pub struct Beside {
    pub pending: Option<Pending>,
    pub place: Option<AgentPlace>,
}

impl Beside {
    pub fn of_listed(listed: &Listed, now: Time) -> Beside {
        Beside::of(&listed.session, &listed.state(now), &listed.presence)
    }

    pub fn of(session: &Session, state: &State, presence: &Presence) -> Beside {
        Beside {
            pending: pending(session, state),
            place: place(presence),
        }
    }
}

/// So many entries at the end of a transcript are looked at; agents rarely have more calls open at once.
const LAST: usize = 64;

/// What a session in this state waits for; none if it waits for nothing, or nobody knows what for.
pub fn pending(session: &Session, state: &State) -> Option<Pending> {
    let (kind, doing) = match state.reason? {
        Reason::Permission(doing) => (PendingKind::Permission, Some(doing?)),
        Reason::Question(_) => (PendingKind::Question, None),
        Reason::Plan => (PendingKind::Plan, None),
        _ => return None,
    };
    let is_it = |call: &Call| match doing {
        Some(doing) => fit(call, doing),
        None => {
            let is_meant = call.asks && (call.act == Act::Plan) == (kind == PendingKind::Plan);
            is_meant.then_some(Fit::Whole)
        }
    };
    let subagents = || find::subagents(session, &session.id, &mut Vec::new());
    let found = last_open(&session.path, session, false, &is_it).or_else(|| {
        let mut files = subagents().into_iter();
        files.find_map(|(path, _)| last_open(&path, session, true, &is_it))
    });
    // What a hook noted may not be written yet.
    let noted = || {
        doing.map(|doing| Call {
            tool: doing.tool.clone().into(),
            act: doing.act,
            subjects: vec![doing.subject.clone().into()],
            ..Call::default()
        })
    };
    Some(Pending {
        kind,
        call: found.or_else(noted)?,
    })
}

/// How well a call fits what the state says, which knows no more than the beginning of a long text, and what a hook noted
/// only in one line.
fn fit(call: &Call, doing: &Doing) -> Option<Fit> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let subject = words(call.subjects.first().map_or("", |subject| subject));
    let known = words(&doing.subject);
    if call.tool != doing.tool {
        return None;
    }
    if subject == known {
        return Some(Fit::Whole);
    }
    let is_begun = known.len() >= CUT && subject.starts_with(known.trim_end_matches('…'));
    is_begun.then_some(Fit::Begun)
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Begun,
    Whole,
}

/// A text that is shorter was not cut.
const CUT: usize = 200;

/// The call of a transcript that fits best and has no result; of several the last.
fn last_open(
    path: &Path,
    session: &Session,
    subagent: bool,
    fit: &dyn Fn(&Call) -> Option<Fit>,
) -> Option<Call<'static>> {
    let transcript = Transcript::open(path, session.format.detailed()).ok()?;
    let wanted = Wanted {
        count: LAST,
        unfinished: true,
        ..Wanted::default()
    };
    let transcript = transcript.whole(true).subagent(subagent);
    let entries = read::log::last(&transcript, wanted).ok()?.entries;
    let open = entries.into_iter().filter_map(|entry| match entry.what {
        What::Call(call) if !call.ended => Some((fit(&call)?, call)),
        _ => None,
    });
    open.max_by(|(one, _), (other, _)| one.cmp(other))
        .map(|(_, call)| call)
}
