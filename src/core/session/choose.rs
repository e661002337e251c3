//! Which session a NAME means: a name in this home, a file, an id, a title, a tag, or a part of one of them. A subagent's
//! name means its transcript, see `subagent.rs`.
//!
//! The best way in which a name fits any session decides; in that way it must fit one session only. `last.rs` decides what
//! `last` means; `self` is the session that asks.

use std::path::{Path, PathBuf};

use super::index::{Listed, list};
use super::{Home, Session, find, ids, last, subagent, trust};
use crate::env::Env;
use crate::file::{self, Unreadable};
use crate::formats::AgentFormat;
use crate::read::recognise;
use session_format::boundary::substr;

/// Why a name leads to no session, or to several.
#[derive(Debug)]
pub enum Unresolved {
    /// There is no name.
    Nameless,
    /// There is no session at all.
    None,
    /// No session is called that; these come near, the nearest first.
    Unknown(Vec<Suggestion>),
    /// All of these are called that, the newest first.
    Ambiguous(Vec<Suggestion>),
    Unreadable(Unreadable),
    /// A file that is no transcript of any known format.
    Unrecognised(PathBuf),
}

/// A session that may be meant: what to type for it, its agent, age, directory and title.
pub type Suggestion = [String; 5];

/// The session that a name leads to.
pub struct Resolved<'f> {
    pub session: Session<'f>,
    pub subagent: bool,
    /// The name is only a part of what the session is called.
    pub part: bool,
    /// Its directory, if it is in another project and was found by a part, or because this project has none.
    pub elsewhere: Option<String>,
}

impl<'f> From<Session<'f>> for Resolved<'f> {
    fn from(session: Session<'f>) -> Resolved<'f> {
        Resolved {
            session,
            subagent: false,
            part: false,
            elsewhere: None,
        }
    }
}

/// The session that the user means by a name: its name in this home, a file, a whole id; then what only reading all
/// sessions can tell, see [`choose`].
pub fn resolve<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    name: &str,
    bad: &mut Vec<Unreadable>,
) -> Result<Resolved<'f>, Unresolved> {
    // A title may be in quotes, as the hook writes it.
    let unquoted = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    let name = unquoted.filter(|name| !name.is_empty()).unwrap_or(name);
    if name.trim().is_empty() {
        return Err(Unresolved::Nameless);
    }
    let unreadable = match in_home(env, formats, name) {
        Ok(Some(session)) => return Ok(session.into()),
        Ok(None) => return anywhere(env, formats, name, bad),
        Err(unreadable) => unreadable,
    };
    // A name that cannot be read here may be known by something else.
    let found = anywhere(env, formats, name, bad);
    bad.retain(|other| other.path != unreadable.path);
    match found {
        Err(Unresolved::Unknown(_) | Unresolved::None) => Err(Unresolved::Unreadable(unreadable)),
        found => {
            bad.push(unreadable);
            found
        }
    }
}

/// The session with a name that is none in this home.
fn anywhere<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    name: &str,
    bad: &mut Vec<Unreadable>,
) -> Result<Resolved<'f>, Unresolved> {
    let path = env.expand(name);
    let is_file = file::if_reachable(file::stat(&path))
        .map_err(Unresolved::Unreadable)?
        .is_some_and(|meta| meta.is_file());
    // A bare word is a session before it is a file.
    let looks_like_path = name.contains('/') || path.extension().is_some_and(|end| end == "jsonl");
    if looks_like_path && is_file {
        return by_path(env, formats, path);
    }
    let agent = of_agent(name, formats);
    if agent.map_or(name, |(_, name)| name) == "last" {
        let agent = agent.map(|(format, _)| format);
        let last = last::last_of(agent, env, formats, bad).ok_or(Unresolved::None)?;
        return Ok(Resolved {
            elsewhere: elsewhere(&last.listed, env),
            ..last.listed.session.into()
        });
    }
    if name == "self"
        && let Some(session) = asking(env, formats)
    {
        return Ok(session.into());
    }
    // What can only be an id needs no other session to be read.
    if name.len() >= 8 && looks_like_id(name) {
        // The list below reports what cannot be read, so errors are dropped here.
        let (sessions, _) = find::sessions(formats, env, false, &mut Vec::new());
        let mut with_id = sessions
            .into_iter()
            .filter(|session| session.id.starts_with(name));
        if let (Some(session), None) = (with_id.next(), with_id.next())
            && trust::is_own(&session, env).map_err(Unresolved::Unreadable)?
        {
            return Ok(session.into());
        }
    }
    let mut all = list(env, formats, bad);
    if all.is_empty() {
        return if is_file {
            by_path(env, formats, path)
        } else {
            Err(Unresolved::None)
        };
    }
    if let Some(listed) = choose(&all, name, &EXACTLY, env)? {
        return Ok(listed.session.clone().into());
    }
    // A file that is no transcript may still be what a session is about.
    let file = is_file.then(|| by_path(env, formats, path));
    if let Some(Ok(transcript)) = file {
        return Ok(transcript);
    }
    if let Some(path) = of_subagent(env, formats, name, bad)? {
        return by_path(env, formats, path);
    }
    if let Some(listed) = choose(&all, name, &ROUGHLY, env)? {
        return Ok(Resolved {
            part: true,
            elsewhere: elsewhere(listed, env),
            ..listed.session.clone().into()
        });
    }
    if let Some(Err(no_transcript)) = file {
        return Err(no_transcript);
    }
    let name = agent.map_or(name, |(_, name)| name);
    if let Some((format, name)) = agent {
        all.retain(|listed| listed.session.format.name == format.name);
        if let Some(listed) = choose(&all, name, &[&EXACTLY[..], &ROUGHLY].concat(), env)? {
            return Ok(listed.session.clone().into());
        }
    }
    Err(Unresolved::Unknown(nearest(&all, name, env)))
}

/// The session that this runs in, if that is known and it has said something.
pub fn asking<'f>(env: &Env, formats: &'f [AgentFormat]) -> Option<Session<'f>> {
    let id_of = |format: &AgentFormat| ids::asking(format, env);
    let (format, id) = formats
        .iter()
        .find_map(|format| Some((format, id_of(format)?)))?;
    let (sessions, _) = find::sessions(formats, env, false, &mut Vec::new());
    let is_it = |session: &Session| session.format.name == format.name && session.has_id(&id);
    sessions.into_iter().find(is_it)
}

/// The transcript of the subagent that is called so.
fn of_subagent(
    env: &Env,
    formats: &[AgentFormat],
    name: &str,
    bad: &mut Vec<Unreadable>,
) -> Result<Option<PathBuf>, Unresolved> {
    if !subagent::may_be(name) {
        return Ok(None);
    }
    let all = subagent::all(env, formats, bad);
    match subagent::called(name, &all)[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.path.to_path_buf())),
        ref several => {
            let row = |one: &&Session| {
                let [age, cwd, title] = [String::new(), String::new(), "a subagent".into()];
                [
                    env.tilde(&one.path),
                    one.format.label().to_owned(),
                    age,
                    cwd,
                    title,
                ]
            };
            Err(Unresolved::Ambiguous(several.iter().map(row).collect()))
        }
    }
}

/// The directory of a session in another project.
fn elsewhere(listed: &Listed, env: &Env) -> Option<String> {
    (!listed.here).then(|| env.tilde(Path::new(listed.tally.cwd().unwrap_or("?"))))
}

/// `codex:name`, as the hook calls a session of another agent; a title may be in quotes.
fn of_agent<'f, 'n>(
    name: &'n str,
    formats: &'f [AgentFormat],
) -> Option<(&'f AgentFormat, &'n str)> {
    let (agent, name) = name.split_once(':')?;
    let format = formats.iter().find(|format| format.is_called(agent))?;
    Some((format, name.trim().trim_matches('"')))
}

/// The session that a name leads to by now, in this home or as a file: for `--follow`, which waits for a session to begin.
pub fn begun<'f>(env: &Env, formats: &'f [AgentFormat], name: &str) -> Option<Resolved<'f>> {
    let path = env.expand(name);
    // What cannot be read now may be readable at the next look.
    match in_home(env, formats, name) {
        Ok(Some(session)) => Some(session.into()),
        _ => path.is_file().then(|| by_path(env, formats, path).ok())?,
    }
}

/// The session that is called so in the home that this runs in.
fn in_home<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    name: &str,
) -> Result<Option<Session<'f>>, Unreadable> {
    // No name in a home is a path.
    if name.contains('/') {
        return Ok(None);
    }
    let session = Home::above(env)?.map_or(Ok(None), |home| home.session(name, formats, env))?;
    match session {
        Some(session) if !trust::is_own(&session, env)? => Ok(None),
        session => Ok(session),
    }
}

/// A file of an agent's own directory has that agent's format; any other is recognised from its lines.
fn by_path<'f>(
    env: &Env,
    formats: &'f [AgentFormat],
    path: PathBuf,
) -> Result<Resolved<'f>, Unresolved> {
    if let Some(session) = find::at(formats, env, &path) {
        return Ok(session.into());
    }
    match recognise(&path, formats) {
        Ok(Some((format, fit))) => {
            let id = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            Ok(Resolved {
                subagent: fit.subagent,
                ..Session::new(id, format, None, path).into()
            })
        }
        Ok(None) => Err(Unresolved::Unrecognised(path)),
        Err(error) => Err(Unresolved::Unreadable(Unreadable { path, error })),
    }
}

/// True if a session is what a name means: as it is typed, and in lower case with single blanks.
type Way = fn(&Listed, &str, &str) -> bool;

/// The ways in which a name is a session's, the best first: name here, the whole id, title or its client's name, tag, beginning of
/// the id. A title is whatever somebody wrote, so it may be another session's id.
const EXACTLY: [Way; 5] = [
    |listed, name, _| listed.session.name.as_deref() == Some(name),
    |listed, name, _| &*listed.session.id == name,
    |listed, name, _| {
        let title = listed.tally.title();
        let is_title =
            title.is_some_and(|title| title.split_whitespace().eq(name.split_whitespace()));
        is_title || listed.client_name() == Some(name)
    },
    |listed, name, _| listed.has_tag(name),
    |listed, name, _| listed.session.id.starts_with(name),
];

/// The ways in which a name is a part of a session's: its name or title begins so, or has it somewhere.
const ROUGHLY: [Way; 2] = [
    |listed, _, lower| {
        listed
            .called()
            .any(|called| words(called).starts_with(lower))
    },
    |listed, _, lower| {
        let given = [
            listed.session.name.as_deref(),
            listed.tally.person_title(),
            listed.tally.agent_title(),
        ];
        let long = lower.chars().nth(2).is_some();
        // A prompt that stands for a title has too many words in it for just any part of them.
        long && (given
            .into_iter()
            .flatten()
            .any(|called| words(called).contains(lower))
            || listed
                .tally
                .title()
                .is_some_and(|title| has_word(&words(title), lower)))
    },
];

/// True if a word of a text begins like this.
fn has_word(text: &str, start: &str) -> bool {
    text.match_indices(start)
        .any(|(at, _)| !substr(text, ..at).ends_with(char::is_alphanumeric))
}

fn words(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// The one session that a name means in the first of these ways in which it means any; those of this project go first.
fn choose<'a, 'f>(
    all: &'a [Listed<'f>],
    name: &str,
    ways: &[Way],
    env: &Env,
) -> Result<Option<&'a Listed<'f>>, Unresolved> {
    let lower = words(name);
    // A full stop is a part of too much.
    if !lower.contains(char::is_alphanumeric) {
        return Ok(None);
    }
    for fits in ways {
        for here in [true, false] {
            let matches: Vec<_> = all
                .iter()
                .filter(|listed| listed.here == here && fits(listed, name, &lower))
                .collect();
            match matches.as_slice() {
                [] => {}
                [one] => return Ok(Some(one)),
                several => return Err(Unresolved::Ambiguous(suggestions(several, name, env))),
            }
        }
    }
    Ok(None)
}

/// The sessions that are called almost like a name, the nearest first; of two, the one of this project.
fn nearest(all: &[Listed], name: &str, env: &Env) -> Vec<Suggestion> {
    let called = words(name);
    let mut near: Vec<_> = all
        .iter()
        .map(|listed| (nearness(listed, &called), listed))
        .collect();
    near.retain(|(nearness, _)| *nearness > 0.6);
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.here.cmp(&one.here)));
    let near: Vec<_> = near.into_iter().map(|(_, listed)| listed).collect();
    suggestions(&near, name, env)
}

/// True if a name can hardly be anything but the beginning of an id.
pub(crate) fn looks_like_id(name: &str) -> bool {
    let is_id = name
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id && name.contains(|char: char| char.is_ascii_digit())
}

/// Shows ids if the user typed an id, else names.
fn suggestions(all: &[&Listed], name: &str, env: &Env) -> Vec<Suggestion> {
    let mut suggestions: Vec<Suggestion> = Vec::new();
    for listed in all {
        let handle = if looks_like_id(name) {
            listed.short_id()
        } else {
            listed.handle()
        };
        // Two files with one id differ in their paths.
        let is_taken = suggestions.iter().any(|suggestion| suggestion[0] == handle);
        let handle = if is_taken {
            listed.session.path.display().to_string()
        } else {
            handle.to_owned()
        };
        let age = listed.age(env.now());
        let cwd = listed
            .tally
            .cwd()
            .map_or_else(|| "?".into(), |cwd| env.tilde(Path::new(cwd)));
        let title = listed.tally.title().unwrap_or_default().to_owned();
        suggestions.push([
            handle,
            listed.session.format.label().to_owned(),
            age,
            cwd,
            title,
        ]);
    }
    suggestions
}

/// The likeness of a name and a session's names, from 0 to 1, word by word. The end of a long title says
/// little about it.
fn nearness(listed: &Listed, name: &str) -> f64 {
    const BEGINNING: usize = 60;
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty())
    }
    let like = |called: &str| {
        let called = substr(called, ..called.floor_char_boundary(BEGINNING)).to_lowercase();
        let best = |word| {
            words(&called)
                .map(|other| strsim::normalized_damerau_levenshtein(word, other))
                .fold(0.0, f64::max)
        };
        words(name).map(best).sum::<f64>() / words(name).count().max(1) as f64
    };
    listed
        .called()
        .chain([&*listed.session.id])
        .map(like)
        .fold(0.0, f64::max)
}
