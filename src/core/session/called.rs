//! What a session is called where there is room for one short name: on the screen of `watch`, in a status line, and in what
//! an agent is told.
//!
//! A title is a name only if it is short, else the handle says more in the same room. The list shows the handle itself,
//! because that is what the user types, and has a column for the title.

use super::index::Listed;
use super::live::Presence;
pub use super::row::is_short;

impl Listed<'_> {
    /// Its short name, and the title to show beside it. Only a title that a person gave it is a name for that person.
    pub fn name_and_title(&self) -> (&str, Option<&str>) {
        let tally = &self.tally;
        match tally.person_name().filter(|_| self.session.name.is_none()) {
            Some(name) => (name, tally.agent_title().or(tally.asked())),
            None => (
                self.client_name().unwrap_or_else(|| self.handle()),
                tally.title(),
            ),
        }
    }

    /// Its name in this home, its client's name for it, and its title.
    pub(super) fn called(&self) -> impl Iterator<Item = &str> {
        let names = [
            self.session.name.as_deref(),
            self.client_name(),
            self.tally.title(),
        ];
        names.into_iter().flatten()
    }

    /// What its client calls it while it is open, unless it has a name here.
    pub(super) fn client_name(&self) -> Option<&str> {
        let Presence::Runs(report) = &self.presence else {
            return None;
        };
        let name = report.name.as_deref().filter(|name| is_short(name));
        name.filter(|_| self.session.name.is_none())
    }

    /// Its short name where nothing else tells what it is about, so that any short title is better than an id.
    pub(crate) fn name_alone(&self) -> &str {
        let title = self
            .tally
            .title()
            .filter(|title| self.session.name.is_none() && is_short(title));
        title
            .or_else(|| self.client_name())
            .unwrap_or_else(|| self.handle())
    }
}
