//! The ids of all sessions, by which each is told from the others. They take a walk over all files, so they are listed only if
//! somebody asks for them and no walk came by them anyway.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Observer;
use super::context::Context;
use session_core::file::Unreadable;
use session_core::session::find::{self, Listing};
use session_core::session::ids::Shortener;

/// Ids, taken from the names of all files.
#[derive(Debug, Default)]
pub struct Ids {
    /// A line for each session.
    all: String,
    /// The file of the observer's own.
    pub own: Option<PathBuf>,
}

impl Ids {
    pub fn add(&mut self, file: &Listing, observer: &Observer) {
        let Some(id) = file.id.filter(|_| !file.is_subagent) else {
            return;
        };
        self.all.push_str(id);
        self.all.push('\n');
        if id == observer.id && self.own.is_none() {
            let session = file.session(None);
            self.own =
                (session.format.name == observer.format.name).then_some(session.path.to_path_buf());
        }
    }

    /// Lists them, if there is time.
    pub fn list(context: &Context, bad: &mut Vec<Unreadable>) -> Ids {
        let mut ids = Ids::default();
        // If some are missing, nobody knows how many are alike.
        if !context.deadline.is_over()
            && !find::each(context.formats, context.env, bad, &mut |file, _| {
                ids.add(&file, context.observer);
            })
        {
            ids.all.clear();
        }
        ids
    }

    pub fn shortener(&self) -> ShortIds {
        // Two patterns may reach one file.
        let all: BTreeSet<&str> = self.all.lines().collect();
        ShortIds((!all.is_empty()).then(|| Shortener::new(all.into_iter().map(str::to_owned))))
    }
}

/// As much of each id as tells it from all others; all of it if there was no time to look at the others.
#[derive(Default)]
pub struct ShortIds(Option<Shortener>);

impl ShortIds {
    pub fn short<'i>(&self, id: &'i str) -> &'i str {
        self.0.as_ref().map_or(id, |shortener| shortener.short(id))
    }
}
