//! What a session is doing, why, and since when. This is the one rule; whoever shows a state asks here.
//!
//! It is made of what the agent says of itself while it runs ([`Presence`]), of the transcript, and of the user's own word.
//! An agent that runs knows best. One that was killed is never at work, whatever its files say. The transcript alone cannot
//! tell a call that runs from one that waits for permission, and where that is all there is, the reason says so. Reasons
//! are data; `show/state.rs` has the words.

use super::live::{BELIEVED, Evidence, Presence, Said};
use crate::entry::{Act, named};
use crate::fold::{Doing, Ending, OpenEnd};
use crate::format::live::{Live, Status};
use crate::time::{SECOND, Time};

named! {
    /// What a session is doing, those that concern the user most first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StateKind {
        /// The agent cannot go on without the user.
        NeedsYou = "needs-you",
        Error = "error",
        Working = "working",
        /// The agent has answered.
        Waiting = "waiting",
        /// Nothing has happened for a while.
        Idle = "idle",
        /// The user said so, and nobody is at work.
        Done = "done",
        /// No agent has it open.
        Gone = "gone",
    }
}

/// Sessions that concern the user in the same way, those that do most first. Whoever counts, lists or names sessions by
/// what they want of the user asks here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    NeedsYou,
    /// An error or a crash, while its agent runs and for an hour.
    Failed,
    Working,
    Waiting,
    Idle,
    /// Done, or no agent has it open.
    Gone,
}

impl Group {
    pub const ALL: [Group; 6] =
        [Group::NeedsYou, Group::Failed, Group::Working, Group::Waiting, Group::Idle, Group::Gone];

    pub fn of(state: &State, presence: &Presence, now: Time) -> Group {
        let is_recent = state.since.is_some_and(|since| now.0 - since.0 <= BELIEVED);
        let runs = matches!(presence, Presence::Runs(_));
        match state.kind {
            StateKind::NeedsYou => Group::NeedsYou,
            _ if state.concerns_user() && (runs || is_recent) => Group::Failed,
            StateKind::Working => Group::Working,
            StateKind::Waiting => Group::Waiting,
            StateKind::Idle | StateKind::Error => Group::Idle,
            StateKind::Done | StateKind::Gone => Group::Gone,
        }
    }

    /// Whether the user should look at it now.
    pub fn is_urgent(self) -> bool {
        self <= Group::Failed
    }

    /// Whether something goes on in it, or should.
    pub fn is_active(self) -> bool {
        self < Group::Idle
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State<'s> {
    pub kind: StateKind,
    pub reason: Option<Reason<'s>>,
    pub since: Option<Time>,
    pub source: Evidence,
}

/// Why a session is in its state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason<'s> {
    /// The user has to allow something.
    Permission(Option<&'s Doing>),
    Question(Option<&'s str>),
    Plan,
    /// The user has opened a dialog of the client.
    Dialog,
    /// This call runs; without one the model is at work.
    Running(Option<&'s Doing>),
    /// This call runs or waits for permission; nobody can tell which.
    Pending(&'s Doing),
    /// The model is at work or was stopped, or a call runs or waits for permission that its file does not have yet.
    ThinkingOrCalling,
    /// The model is at work, or the user has stopped it.
    ThinkingOrInterrupted,
    Answered,
    /// The agent has answered, or a call runs or waits for permission that its file does not have yet.
    AnsweredOrCalling,
    /// The agent has answered, and a command of its own still runs.
    Background,
    Interrupted,
    Trouble {
        text: &'s str,
        limit: bool,
    },
    /// The agent was killed, perhaps in the middle of something.
    Crashed(Option<&'s Doing>),
    /// The agent was left, perhaps in the middle of something.
    Ended(Option<&'s Doing>),
}

/// What the transcript and the user say about a session.
pub struct History<'s> {
    pub ending: Ending,
    pub open_end: Option<&'s OpenEnd>,
    pub updated: Option<Time>,
    pub done: bool,
}

impl<'s> State<'s> {
    pub fn of(history: &History<'s>, live: &Live, presence: &'s Presence, now: Time) -> State<'s> {
        let doing = history.doing();
        let (kind, reason, since, source) = match presence {
            Presence::Runs(said) => {
                let (kind, reason) = match said.status {
                    Some(status) => history.as_said(status, said, now),
                    // It was started after that, so it is doing something else.
                    None if said.since > history.updated => history.left_off().as_written(live, true, now),
                    None => history.as_written(live, true, now),
                };
                (kind, reason, said.since.filter(|_| said.status.is_some()), said.by)
            }
            Presence::Killed(said) => {
                let was_ready = match said.status {
                    Some(status) => matches!(status, Status::Ready | Status::Background | Status::Ended),
                    None => doing.is_none(),
                };
                let crashed = || Reason::Crashed(doing.or(said.doing.as_ref()));
                let reason = if was_ready { history.ended() } else { crashed() };
                (StateKind::Gone, Some(reason), None, said.by)
            }
            Presence::Closed => {
                let source = if live.files.is_empty() { Evidence::Lock } else { Evidence::Registry };
                let ((kind, reason), source) = match live.late_files {
                    true => (history.left_off().as_written(live, false, now), Evidence::Transcript),
                    false => ((StateKind::Gone, Some(history.ended())), source),
                };
                (kind, reason, None, source)
            }
            Presence::Unknown => {
                let (kind, reason) = history.as_written(live, false, now);
                (kind, reason, None, Evidence::Transcript)
            }
        };
        let state = State { kind, reason, since: since.or(history.updated), source };
        match history.done && !matches!(kind, StateKind::Working | StateKind::NeedsYou) {
            true => State { kind: StateKind::Done, reason: None, source: Evidence::User, ..state },
            false => state,
        }
    }
}

impl State<'_> {
    /// Whether it needs the user or went wrong, however long ago that was.
    pub fn concerns_user(&self) -> bool {
        matches!(self.kind, StateKind::NeedsYou | StateKind::Error) || matches!(self.reason, Some(Reason::Crashed(_)))
    }
}

impl<'s> History<'s> {
    fn doing(&self) -> Option<&'s Doing> {
        if let Some(OpenEnd::Call(doing)) = self.open_end { Some(doing) } else { None }
    }

    fn trouble(&self) -> Option<Reason<'s>> {
        let Some(OpenEnd::Trouble { text, limit }) = self.open_end else { return None };
        Some(Reason::Trouble { text, limit: *limit })
    }

    /// The same where nobody is at work any more: what was going on was interrupted.
    fn left_off(&self) -> History<'s> {
        let ending = match self.ending {
            Ending::Working | Ending::Unfinished | Ending::Asked => Ending::Interrupted,
            ending => ending,
        };
        History { ending, ..*self }
    }

    fn ended(&self) -> Reason<'s> {
        self.trouble().unwrap_or(Reason::Ended(self.doing()))
    }

    /// The agent runs and says what it is doing; the transcript knows of what.
    fn as_said(&self, status: Status, said: &'s Said, now: Time) -> (StateKind, Option<Reason<'s>>) {
        /// How long the transcript may lag behind what the agent says.
        const LAG: i64 = SECOND / 2;
        let doing = self.doing();
        let is_fresh = said.since.is_some_and(|since| now.0 - since.0 < LAG);
        let (kind, reason) = match status {
            Status::Working => (StateKind::Working, Reason::Running(doing.or(said.doing.as_ref()))),
            Status::Waiting | Status::Permission | Status::Question => {
                let asked = asked(doing.filter(|doing| doing.asks));
                let allowed = Reason::Permission(said.doing.as_ref().or(doing));
                let unknown = if status == Status::Question { Reason::Question(None) } else { allowed };
                (StateKind::NeedsYou, asked.unwrap_or(unknown))
            }
            Status::Dialog => (StateKind::Waiting, Reason::Dialog),
            Status::Background => (StateKind::Waiting, Reason::Background),
            Status::Ended => (StateKind::Gone, self.ended()),
            Status::Ready => match (self.ending, self.trouble()) {
                (_, Some(trouble)) => (StateKind::Error, trouble),
                (Ending::None, _) => return (StateKind::Waiting, None),
                (Ending::Answered, _) => (StateKind::Waiting, Reason::Answered),
                // The answer may just not be written yet.
                _ if is_fresh => return (StateKind::Waiting, None),
                // What was at work is so no longer, and nobody has answered.
                _ => (StateKind::Waiting, Reason::Interrupted),
            },
        };
        (kind, Some(reason))
    }

    /// As the transcript has it. A file cannot say that its writer is gone, so after an hour of silence nobody is thought
    /// to be at work, unless it is known that the agent runs.
    fn as_written(&self, live: &Live, runs: bool, now: Time) -> (StateKind, Option<Reason<'s>>) {
        let silent = self.updated.is_none_or(|updated| now.0 - updated.0 > BELIEVED);
        let (doing, idle) = (self.doing(), silent && !runs);
        let answered = if live.late_calls { Reason::AnsweredOrCalling } else { Reason::Answered };
        match self.ending {
            Ending::Failed => (StateKind::Error, self.trouble()),
            Ending::Asked if !idle => (StateKind::NeedsYou, asked(doing)),
            Ending::Working | Ending::Unfinished if !idle => match doing {
                Some(doing) if doing.waits => (StateKind::NeedsYou, Some(Reason::Permission(Some(doing)))),
                Some(doing) if !live.no_permissions && !live.told_permissions => {
                    (StateKind::Working, Some(Reason::Pending(doing)))
                }
                None if live.late_calls => (StateKind::Working, Some(Reason::ThinkingOrCalling)),
                None if live.silent_interrupts => (StateKind::Working, Some(Reason::ThinkingOrInterrupted)),
                _ => (StateKind::Working, Some(Reason::Running(doing))),
            },
            Ending::Interrupted => {
                (if silent { StateKind::Idle } else { StateKind::Waiting }, Some(Reason::Interrupted))
            }
            Ending::Answered => (if silent { StateKind::Idle } else { StateKind::Waiting }, Some(answered)),
            _ => (if silent { StateKind::Idle } else { StateKind::Waiting }, None),
        }
    }
}

/// What a call asks the user.
fn asked(doing: Option<&Doing>) -> Option<Reason<'_>> {
    doing.map(|doing| match doing.act {
        Act::Plan => Reason::Plan,
        _ => Reason::Question(Some(&*doing.subject).filter(|question| !question.is_empty())),
    })
}
