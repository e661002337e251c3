//! The transcripts of all subagents on this machine, and what each of them is called.
//!
//! A subagent is called like its file: `agent-a1b2` for `agent-a1b2.jsonl`, or `a1b2` for short. A name is good for a command
//! only if no other subagent has it. Those of one session are found by `find.rs`.

use std::path::Path;

use super::Session;
use super::find::{self, Guide};
use crate::env::Env;
use crate::file::{Stamp, Unreadable};
use crate::formats::AgentFormat;

/// All of them, in the order of their paths; the id of each is that of its session. This is one walk over all directories.
pub fn all<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    bad: &mut Vec<Unreadable>,
) -> Vec<Session<'f>> {
    let (mut found, owners) = (Vec::new(), env.owners());
    let guide = Guide {
        subagents: Some(&|_| true),
        ..Guide::default()
    };
    find::each_with(formats, env, guide, bad, &mut |file, bad| {
        if file.is_subagent {
            let is_own = |stamp: &Stamp| owners.own(stamp.access) && !stamp.access.linked;
            let stamp = Unreadable::noted(file.stamp(), bad).filter(is_own);
            found.extend(stamp.map(|stamp| file.session(Some(stamp))));
        }
    });
    find::in_order(&mut found);
    found
}

/// The name to type for the subagent with this transcript; none if that means another one as well.
pub fn name<'p>(path: &'p Path, all: &[Session]) -> Option<&'p str> {
    let name = stem(path).filter(|name| may_be(name))?;
    matches!(called(name, all)[..], [one] if *one.path == *path).then_some(name)
}

/// The subagents that a name means: those that are called so, else those that begin so.
pub fn called<'s, 'f>(name: &str, all: &'s [Session<'f>]) -> Vec<&'s Session<'f>> {
    let that = |fits: &dyn Fn(&str) -> bool| -> Vec<&'s Session<'f>> {
        let is = |session: &&Session| {
            stem(&session.path)
                .is_some_and(|stem| fits(stem) || stem.strip_prefix("agent-").is_some_and(fits))
        };
        all.iter().filter(is).collect()
    };
    let exactly = that(&|called| called == name);
    if exactly.is_empty() {
        that(&|called| called.starts_with(name))
    } else {
        exactly
    }
}

/// True if a name can be that of a subagent. Words of a title are none.
pub fn may_be(name: &str) -> bool {
    let is_id = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_id && name.len() >= 8 && name.bytes().any(|byte| byte.is_ascii_digit())
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}
