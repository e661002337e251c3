//! Finds the files that have to be opened at a look.
//!
//! Names and stamps decide, not contents. A file is opened if it changed since it was seen, or, if it was never seen, since
//! the last look. In a home, the sessions with a name count; elsewhere all that a walk finds. A file or a name that is missing
//! is remembered for days, because it may come back, and it may have got another path.

use super::context::Context;
use super::known::{Known, known};
use super::names::{self, Names};
use super::observed::{Observed, Progress};
use super::walk::walk;
use session_core::dir::Dirs;
use session_format::path::base_name;

/// Looks which sessions changed since the last look.
pub fn observe<'s, 'f>(context: &Context<'s, 'f>) -> Observed<'s, 'f> {
    let names = match context
        .observer
        .home
        .as_ref()
        .map(|home| names::read(home, context))
        .transpose()
    {
        Ok(names) => names,
        // If the names cannot be listed, none of them counts as missing.
        Err(bad) => {
            return Observed {
                bad: vec![bad],
                progress: until_now(context),
                ..Observed::default()
            };
        }
    };
    let dirs = Dirs::default();
    let known = known(names.as_ref(), &dirs, context);
    match names {
        Some(names) => named(names, known, context),
        None => walk(known, &dirs, context),
    }
}

/// Adds the files of a home that were never seen, or not under this path.
fn named<'s, 'f>(
    names: Names<'f>,
    known: Known<'s, 'f>,
    context: &Context<'s, 'f>,
) -> Observed<'s, 'f> {
    let Known {
        mut found, moved, ..
    } = known;
    found.bad.extend(names.bad);
    let horizon = context.horizon();
    for file in names.files {
        if context.view.sessions.get(&file.key).is_none() {
            let elsewhere = || moved.of(&file.session.id, base_name(&file.key), file.stamp);
            let moved = moved.to(&file.key).or_else(elsewhere);
            found.add(file, moved, horizon, context);
        }
    }
    Observed {
        cut_short: found.cut_short || names.cut_short,
        progress: until_now(context),
        ..found
    }
}

fn until_now(context: &Context) -> Progress {
    Progress {
        seen_until: context.file_time(),
        ..Progress::default()
    }
}
