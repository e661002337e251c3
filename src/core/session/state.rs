//! What a session is doing, why, and since when. This is the one rule; whoever shows a state asks here.
//!
//! It is made of what the agent says of itself while it runs ([`Presence`]), of the transcript, and of the user's own word.
//! An agent that runs knows best. One that was killed is never at work, whatever its files say. The transcript alone cannot
//! tell a call that runs from one that waits for permission, and where that is all there is, the reason says so. Reasons
//! are data; `show/state.rs` has the words.

use super::Session;
use super::live::{AgentReport, Agents, BELIEVED, Evidence, Presence};
use crate::fold::{Continuity, Doing, Ending, OpenEnd};
use session_format::entry::{Act, named};
use session_format::format::live::{Live, Status};
use session_format::time::{SECOND, Time};

named! {
    /// The states of a session, those that concern the user most first.
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
    /// Nothing goes on in it: idle, done, gone, or an error of long ago.
    Inactive,
}

impl Group {
    pub const ALL: [Group; 5] = [
        Group::NeedsYou,
        Group::Failed,
        Group::Working,
        Group::Waiting,
        Group::Inactive,
    ];

    pub fn of(state: &State, presence: &Presence, now: Time) -> Group {
        let is_recent = state.since.is_some_and(|since| now.0 - since.0 <= BELIEVED);
        let runs = matches!(presence, Presence::Runs(_));
        match state.kind {
            StateKind::NeedsYou => Group::NeedsYou,
            _ if state.concerns_user() && (runs || is_recent) => Group::Failed,
            StateKind::Working => Group::Working,
            StateKind::Waiting => Group::Waiting,
            StateKind::Idle | StateKind::Error | StateKind::Done | StateKind::Gone => {
                Group::Inactive
            }
        }
    }

    /// True if the user should look at it now.
    pub fn is_urgent(self) -> bool {
        self <= Group::Failed
    }

    /// True if something goes on in it, or should.
    pub fn is_active(self) -> bool {
        self < Group::Inactive
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State<'s> {
    pub kind: StateKind,
    pub reason: Option<Reason<'s>>,
    pub since: Option<Time>,
    pub source: Evidence,
    /// The directory that the session began in: paths below it are shown from there.
    pub cwd: Option<&'s str>,
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
    /// The agent has just come to rest, and how is not written yet.
    AnsweredOrInterrupted,
    Trouble {
        text: &'s str,
        limit: bool,
    },
    /// The agent was killed, perhaps before a call had a result.
    Crashed(Option<Left<'s>>),
    /// The agent was left, perhaps before a call had a result; and when, if that is known.
    Ended(Option<Left<'s>>, Option<Time>),
}

/// A call that had no result when its agent went away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Left<'s> {
    pub doing: &'s Doing,
    pub stage: Stage,
}

/// The progress of a call that has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Running,
    /// The user had to answer or to allow it first.
    Waiting,
    /// It ran or waited for permission.
    Unknown,
}

/// The facts about a session from its transcript and its user.
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
                    Some(status) => history.as_said(status, said, live, now),
                    // It was started after that, so it is doing something else.
                    None if said.since > history.updated => {
                        history.left_off().as_written(live, true, now)
                    }
                    None => history.as_written(live, true, now),
                };
                (
                    kind,
                    reason,
                    said.since.filter(|_| said.status.is_some()),
                    said.by,
                )
            }
            Presence::Killed(said) => {
                let was_ready = match said.status {
                    Some(status) => {
                        matches!(status, Status::Ready | Status::Background | Status::Ended)
                    }
                    None => doing.is_none(),
                };
                let stage = match said.status {
                    Some(Status::Working) => Some(Stage::Running),
                    Some(Status::Waiting | Status::Permission | Status::Question) => {
                        Some(Stage::Waiting)
                    }
                    _ => None,
                };
                let left = |doing| Left {
                    doing,
                    stage: stage.unwrap_or_else(|| Stage::of(doing, live)),
                };
                let crashed = || Reason::Crashed(doing.or(said.doing.as_ref()).map(left));
                let end = said.ended_at().filter(|end| Some(*end) >= history.updated);
                let reason = if was_ready {
                    history.ended(end, live)
                } else {
                    crashed()
                };
                (StateKind::Gone, Some(reason), end, said.by)
            }
            Presence::Closed => {
                let source = if live.files.is_empty() {
                    Evidence::Lock
                } else {
                    Evidence::Registry
                };
                if live.late_files {
                    let (kind, reason) = history.left_off().as_written(live, false, now);
                    (kind, reason, None, Evidence::Transcript)
                } else {
                    (
                        StateKind::Gone,
                        Some(history.ended(None, live)),
                        None,
                        source,
                    )
                }
            }
            Presence::Unknown => {
                let (kind, reason) = history.as_written(live, false, now);
                (kind, reason, None, Evidence::Transcript)
            }
        };
        let state = State {
            kind,
            reason,
            since: since.or(history.updated),
            source,
            cwd: None,
        };
        if history.done && !matches!(kind, StateKind::Working | StateKind::NeedsYou) {
            return State {
                kind: StateKind::Done,
                reason: None,
                source: Evidence::User,
                ..state
            };
        }
        state
    }
}

impl<'s> State<'s> {
    /// The same, of a session that began in this directory.
    pub fn within(self, cwd: Option<&'s str>) -> State<'s> {
        State { cwd, ..self }
    }

    /// True if something goes on in it for sure: it waits for its user, or its agent is known to be at work.
    pub fn goes_on(&self) -> bool {
        let is_known = self.source != Evidence::Transcript;
        self.kind == StateKind::NeedsYou || self.kind == StateKind::Working && is_known
    }

    /// True if it needs the user or went wrong, however long ago that was.
    pub(crate) fn concerns_user(&self) -> bool {
        matches!(self.kind, StateKind::NeedsYou | StateKind::Error)
            || matches!(self.reason, Some(Reason::Crashed(_)))
    }
}

impl<'s> History<'s> {
    fn doing(&self) -> Option<&'s Doing> {
        if let Some(OpenEnd::Call(doing)) = self.open_end {
            Some(doing)
        } else {
            None
        }
    }

    fn trouble(&self) -> Option<Reason<'s>> {
        let Some(OpenEnd::Trouble { text, limit }) = self.open_end else {
            return None;
        };
        Some(Reason::Trouble {
            text,
            limit: *limit,
        })
    }

    /// The same where nobody is at work any more: what was going on was interrupted.
    fn left_off(&self) -> History<'s> {
        let ending = match self.ending {
            Ending::Working | Ending::Asked => Ending::Interrupted,
            ending => ending,
        };
        History { ending, ..*self }
    }

    fn ended(&self, end: Option<Time>, live: &Live) -> Reason<'s> {
        let left = self.doing().map(|doing| Left {
            doing,
            stage: Stage::of(doing, live),
        });
        self.trouble().unwrap_or(Reason::Ended(left, end))
    }

    /// The agent runs and says what it is doing; the transcript knows of what.
    fn as_said(
        &self,
        status: Status,
        said: &'s AgentReport,
        live: &Live,
        now: Time,
    ) -> (StateKind, Option<Reason<'s>>) {
        /// The transcript may lag so much behind the agent's own report.
        const LAG: i64 = SECOND / 2;
        let doing = self.doing();
        let is_fresh = said.since.is_some_and(|since| now.0 - since.0 < LAG);
        let (kind, reason) = match status {
            Status::Working => (
                StateKind::Working,
                Reason::Running(doing.or(said.doing.as_ref())),
            ),
            Status::Waiting | Status::Permission | Status::Question => {
                let asked = asked(doing.filter(|doing| doing.asks));
                let allowed = Reason::Permission(said.doing.as_ref().or(doing));
                let unknown = if status == Status::Question {
                    Reason::Question(None)
                } else {
                    allowed
                };
                (StateKind::NeedsYou, asked.unwrap_or(unknown))
            }
            Status::Dialog => (StateKind::Waiting, Reason::Dialog),
            Status::Background => (StateKind::Waiting, Reason::Background),
            Status::Ended => (StateKind::Gone, self.ended(said.ended_at(), live)),
            Status::Ready => match (self.ending, self.trouble()) {
                (_, Some(trouble)) => (StateKind::Error, trouble),
                (Ending::None, _) => return (StateKind::Waiting, None),
                (Ending::Answered, _) => (StateKind::Waiting, Reason::Answered),
                // The answer may just not be written yet; but there is none before a call has a result.
                (Ending::Working, _) if is_fresh && doing.is_none() => {
                    (StateKind::Waiting, Reason::AnsweredOrInterrupted)
                }
                // What was at work is so no longer, and nobody has answered.
                _ => (StateKind::Waiting, Reason::Interrupted),
            },
        };
        (kind, Some(reason))
    }

    /// As the transcript has it. A file cannot say that its writer is gone, so after an hour of silence nobody is thought
    /// to be at work, unless it is known that the agent runs.
    fn as_written(&self, live: &Live, runs: bool, now: Time) -> (StateKind, Option<Reason<'s>>) {
        let silent = self
            .updated
            .is_none_or(|updated| now.0 - updated.0 > BELIEVED);
        let (doing, idle) = (self.doing(), silent && !runs);
        let resting = if silent {
            StateKind::Idle
        } else {
            StateKind::Waiting
        };
        let answered = if live.late_calls && !silent {
            Reason::AnsweredOrCalling
        } else {
            Reason::Answered
        };
        match self.ending {
            Ending::Failed => (StateKind::Error, self.trouble()),
            Ending::Asked if !idle => (StateKind::NeedsYou, asked(doing)),
            Ending::Working if !idle => match doing {
                Some(doing) if doing.waits => {
                    (StateKind::NeedsYou, Some(Reason::Permission(Some(doing))))
                }
                Some(doing) if !live.no_permissions && !live.told_permissions => {
                    (StateKind::Working, Some(Reason::Pending(doing)))
                }
                None if live.late_calls => (StateKind::Working, Some(Reason::ThinkingOrCalling)),
                None if live.silent_interrupts => {
                    (StateKind::Working, Some(Reason::ThinkingOrInterrupted))
                }
                _ => (StateKind::Working, Some(Reason::Running(doing))),
            },
            Ending::Interrupted => (resting, Some(Reason::Interrupted)),
            Ending::Answered => (resting, Some(answered)),
            _ => (resting, None),
        }
    }
}

impl Stage {
    /// As far as the transcript tells.
    fn of(doing: &Doing, live: &Live) -> Stage {
        if doing.asks || doing.waits {
            return Stage::Waiting;
        }
        if live.no_permissions || live.told_permissions {
            Stage::Running
        } else {
            Stage::Unknown
        }
    }
}

/// All that a state is made of, for a session that is not in a list.
#[derive(Debug)]
pub struct Situation {
    pub ending: Ending,
    pub open_end: Option<OpenEnd>,
    pub updated: Option<Time>,
    pub done: bool,
    pub presence: Presence,
}

impl Situation {
    /// Of a session whose transcript was read to its end. Without a look at the agents, the transcript alone tells.
    pub fn of(
        session: &Session,
        stop: &Continuity,
        done: bool,
        agents: Option<&Agents>,
    ) -> Situation {
        let (open_end, updated) = (stop.open_end(), stop.updated);
        let presence = agents
            .map(|agents| agents.of(session, open_end.as_ref(), updated))
            .unwrap_or_default();
        Situation {
            ending: stop.ending,
            open_end,
            updated,
            done,
            presence,
        }
    }

    pub fn state(&self, live: &Live, now: Time) -> State<'_> {
        let Situation {
            ending,
            updated,
            done,
            ..
        } = *self;
        State::of(
            &History {
                ending,
                open_end: self.open_end.as_ref(),
                updated,
                done,
            },
            live,
            &self.presence,
            now,
        )
    }
}

/// The question that a call asks the user.
fn asked(doing: Option<&Doing>) -> Option<Reason<'_>> {
    doing.map(|doing| match doing.act {
        Act::Plan => Reason::Plan,
        _ => Reason::Question(Some(&*doing.subject).filter(|question| !question.is_empty())),
    })
}
