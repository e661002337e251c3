//! What happened in a session since somebody last looked: a few numbers, one quotation, and the state it is in.

use super::turn::without_dead_turns;
use super::{Ending, Failing, LastAsked, code};
use crate::entry::{Act, Call, Entry, Mark, Role, What};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The newest time of all that happened.
    pub time: Option<Time>,
    /// Messages that began since; a message that only went on is none.
    pub messages: u64,
    /// What the user asked, and the last thing that the agent said.
    pub asked: LastAsked<String>,
    pub answer: Option<String>,
    /// Files as they were edited, each as often as it was; whoever knows the directory knows which are the same.
    pub edited: Vec<(String, Option<Time>)>,
    pub reads: u64,
    pub runs: u64,
    pub fetches: u64,
    pub delegated: u64,
    /// Tests, builds and checks that fail.
    pub failing: Failing<String>,
    /// How it ended, so far.
    pub ending: Ending,
}

impl Activity {
    /// What a conversation amounts to that ended like this. None if nothing happened that is worth telling.
    pub fn of(entries: &[Entry], ending: Ending) -> Option<Activity> {
        let mut activity = Activity { ending, ..Activity::default() };
        without_dead_turns(entries).into_iter().for_each(|entry| activity.add(entry));
        let acted = activity.reads + activity.runs + activity.fetches + activity.delegated > 0;
        let is_error = |entry: &Entry| matches!(entry.what, What::Mark(Mark::Error, _));
        // An error that the agent got over is not how it ended.
        let stopped = ending == Ending::Failed && entries.iter().any(is_error);
        let fails = activity.failing.newest().next().is_some();
        let happened = activity.messages > 0 || acted || !activity.edited.is_empty();
        (happened || fails || stopped).then_some(activity)
    }

    fn add(&mut self, entry: &Entry) {
        self.messages += u64::from(entry.begins);
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => self.asked.push(text, |own| own),
            (What::Text(text), Role::Assistant) => {
                self.failing.went_on();
                self.answer = Some(text.to_string());
            }
            (What::Call(call), _) => self.call(call, entry.time),
            (What::Mark(Mark::Error, _), _) => {}
            (What::Mark(Mark::Interrupt, _), _) => return self.failing.interrupted(),
            _ => return,
        }
        self.time = self.time.max(entry.time);
    }

    fn call(&mut self, call: &Call, time: Option<Time>) {
        if call.ended {
            let name = |command: &str| code::check_name(command).unwrap_or_default();
            self.failing.ended(call, call.failed, call.broken_off, name);
        }
        if call.failed {
            return;
        }
        match call.act {
            Act::Edit => {
                self.edited.extend(call.subjects.iter().map(|path| (path.to_string(), time)));
            }
            Act::Read | Act::Search => self.reads += 1,
            Act::Run => self.runs += 1,
            Act::Fetch => self.fetches += 1,
            Act::Delegate => self.delegated += 1,
            Act::Plan | Act::Other => {}
        }
    }
}
