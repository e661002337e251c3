//! What happened in a session since somebody last looked: a few numbers, one quotation, and the state it is in.

use super::code::GitEvent;
use super::turn::without_dead_turns;
use super::{Ending, Failing, LastAsked, code};
use session_format::entry::{Act, Call, Entry, Mark, Role, What};
use session_format::time::Time;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// The newest time of all that happened.
    pub time: Option<Time>,
    /// Messages that began since; a message that only went on is none.
    pub messages: u64,
    /// The user's prompts, and the agent's last answer.
    pub asked: LastAsked<String>,
    pub answer: Option<String>,
    /// Files as they were edited, each as often as it was; whoever knows the directory knows which are the same.
    pub edited: Vec<(String, Option<Time>)>,
    pub reads: u64,
    pub runs: u64,
    pub fetches: u64,
    pub delegated: u64,
    /// The last call that had no result when somebody looked before, and that the user then refused or stopped.
    pub broken_off: Option<Call<'static>>,
    /// Changes of the repository by its commands, with their times.
    pub git: Vec<(GitEvent, Option<Time>)>,
    /// Tests, builds and checks that fail.
    pub failing: Failing<String>,
    /// The ending so far.
    pub ending: Ending,
}

impl Activity {
    /// Folds a conversation that ended like this. None if nothing happened that is worth telling.
    pub fn of(entries: &[Entry], ending: Ending) -> Option<Activity> {
        let mut activity = Activity {
            ending,
            ..Activity::default()
        };
        let entries = without_dead_turns(entries);
        let is_answer = |(entry, _): &(&Entry, bool)| {
            matches!(entry.what, What::Text(_)) && entry.role == Role::Assistant
        };
        let answered = entries.iter().rposition(is_answer).unwrap_or(0);
        for (index, (entry, taken_back)) in entries.iter().enumerate() {
            activity.messages += u64::from(entry.begins && !taken_back);
            activity.add(entry, index < answered);
        }
        let is_open = |(entry, _): &(&Entry, bool)| entry.open_call().is_some();
        // The user has to allow a call that may have been told as running, and has not answered yet.
        let is_wish = |(index, (entry, _)): (usize, &(&Entry, bool))| match entry.what {
            What::Permission { call, waits: true } => {
                let answer = What::Permission { call, waits: false };
                !entries[index..]
                    .iter()
                    .any(|(later, _)| later.what == answer)
            }
            _ => false,
        };
        let works = matches!(ending, Ending::Working | Ending::Asked)
            && (entries.iter().any(is_open) || entries.iter().enumerate().any(is_wish));
        let acted = activity.reads + activity.runs + activity.fetches + activity.delegated > 0;
        let is_error =
            |(entry, _): &(&Entry, bool)| matches!(entry.what, What::Mark(Mark::Error, _));
        // An error that the agent got over is not how it ended.
        let stopped = ending == Ending::Failed && entries.iter().any(is_error);
        let fails = activity.failing.newest().next().is_some();
        let happened = activity.messages > 0
            || acted
            || !activity.edited.is_empty()
            || activity.broken_off.is_some();
        (happened || works || fails || stopped).then_some(activity)
    }

    /// Takes the next entry; the agent said something after it, or it did not.
    fn add(&mut self, entry: &Entry, went_on: bool) {
        match (&entry.what, entry.role) {
            (What::Text(text), Role::User) => self.asked.push(text, |own| own),
            (What::Text(text), Role::Assistant) => {
                self.failing.went_on();
                self.answer = Some(text.to_string());
            }
            (What::Call(call), _) => {
                self.call(call, entry, went_on);
                self.time = self.time.max(call.ended_at);
            }
            (What::Mark(Mark::Error, _) | What::Permission { waits: true, .. }, _) => {}
            (What::Mark(Mark::Interrupt, _), _) => return self.failing.interrupted(),
            _ => return,
        }
        self.time = self.time.max(entry.time);
    }

    fn call(&mut self, call: &Call, entry: &Entry, went_on: bool) {
        let time = call.ended_at.or(entry.time);
        if entry.renews && call.broken_off {
            self.broken_off = Some(call.clone().into_owned());
        }
        if call.ended {
            let name = |command: &str| code::check_name(command).unwrap_or_default();
            self.failing.ended(call, call.failed, call.broken_off, name);
        }
        if !call.is_done(went_on) {
            return;
        }
        match call.act {
            Act::Edit => {
                self.edited
                    .extend(call.subjects.iter().map(|path| (path.to_string(), time)));
            }
            Act::Read | Act::Search => self.reads += 1,
            Act::Run => {
                self.runs += 1;
                let events = call
                    .subjects
                    .iter()
                    .flat_map(|command| code::git_events(command));
                self.git.extend(events.map(|event| (event, time)));
                let changed = call
                    .subjects
                    .iter()
                    .flat_map(|command| code::git_changed(command));
                self.edited.extend(changed.map(|(path, _)| (path, time)));
            }
            Act::Fetch => self.fetches += 1,
            Act::Delegate => self.delegated += 1,
            Act::Plan | Act::Other => {}
        }
    }
}
