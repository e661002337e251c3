//! Who touched which files, for people and programs: a table of files, and the history of one.
//!
//! Which touches there are, and in which order, is up to `ask/files.rs`. Paths are relative to the project, else they begin
//! with `~` or `/`.

use std::path::{Path, PathBuf};

use super::figures::plural;
use super::gate::Gate;
use super::json::{Object, object};
use super::log::Opener;
use super::terminal::{Style, Tone, cut, pad, pad_left, width};
use crate::ask::files::{By, TouchedFile, Who};
use crate::env::{Env, iso};
use crate::fold::Deed;
use crate::session::index::Listed;
use session_format::boundary::substr;
use session_format::time::Time;

/// `2026-01-31 14:25`
const STAMP: usize = 16;

/// What all of it is shown with.
pub struct FileView<'v> {
    pub sessions: &'v [Listed<'v>],
    pub env: &'v Env,
    /// The directory of the project.
    pub root: PathBuf,
    pub gate: Gate,
    pub style: Style,
}

impl FileView<'_> {
    pub fn path(&self, path: &Path) -> String {
        let is_below = |below: &&Path| !below.as_os_str().is_empty() && self.root != Path::new("/");
        let below = path.strip_prefix(&self.root).ok().filter(is_below);
        self.gate
            .line(below.map_or_else(|| self.env.tilde(path), |below| below.display().to_string()))
            .into_owned()
    }

    fn age(&self, time: Option<Time>) -> String {
        time.map_or_else(|| "?".into(), |time| time.short_age(self.env.now()))
    }

    /// `codex:01a1e236`, which is also what finds it.
    fn name(&self, session: usize) -> String {
        let listed = &self.sessions[session];
        format!(
            "{}:{}",
            self.gate.line(listed.session.format.label()),
            self.gate.line(listed.handle())
        )
    }

    /// `! 2m  src/auth.rs  claude:a11ce000 edited 3x 2m ago; codex:c0de8000 edited 9m ago; 2 read it`
    pub fn table(&self, files: &[TouchedFile]) -> Vec<String> {
        let rows: Vec<[String; 2]> = files
            .iter()
            .map(|file| [self.age(file.time), self.path(&file.path)])
            .collect();
        let widest = |column: usize, least: usize| {
            rows.iter()
                .map(|row| width(&row[column]))
                .max()
                .map_or(least, |most| most.max(least))
        };
        let half = self.style.width.map_or(usize::MAX, |all| all / 2);
        let (ages, paths) = (widest(0, 3), widest(1, 4).min(half));
        let head = format!("  {}  {}  WHO", pad_left("AGE", ages), pad("FILE", paths));
        let mut lines = vec![self.style.paint(Tone::Faint, &head).into_owned()];
        for (file, [age, path]) in files.iter().zip(rows) {
            let mark = if file.conflict { "!" } else { " " };
            let used = 2 + ages + 2 + paths + 2;
            let room = self
                .style
                .width
                .map_or(usize::MAX, |all| all.saturating_sub(used).max(20));
            let path = pad(&cut_start(&path, paths), paths);
            let tone = if file.conflict {
                Tone::Alarm
            } else {
                Tone::Strong
            };
            lines.push(format!(
                "{} {}  {}  {}",
                self.style.paint(Tone::Alarm, mark),
                pad_left(&age, ages),
                self.style.paint(tone, &path),
                fitting(&self.who(file), room)
            ));
        }
        lines
    }

    fn who(&self, file: &TouchedFile) -> Vec<String> {
        let is_one = file.who.len() == 1;
        let edited = |who: &Who| {
            let age = if is_one {
                String::new()
            } else {
                format!(" {}", self.ago(who.time))
            };
            format!("{} {}{age}", self.name(who.session), deeds(&who.deeds))
        };
        let readers: Vec<&Who> = file.who.iter().filter(|who| who.deeds.is_empty()).collect();
        let mut parts: Vec<String> = file
            .who
            .iter()
            .filter(|who| !who.deeds.is_empty())
            .map(edited)
            .collect();
        match (&readers[..], parts.is_empty()) {
            ([], _) => {}
            ([one], true) => parts.push(format!("{} read it", self.name(one.session))),
            (all, _) => parts.push(format!("{} read it", all.len())),
        }
        parts
    }

    fn ago(&self, time: Option<Time>) -> String {
        time.map_or_else(
            || "?".into(),
            |time| time.age(self.env.now()) + if is_now(time, self.env) { "" } else { " ago" },
        )
    }

    /// What the history is about: `src/auth.rs  3 edits, 2 reads by 2 sessions`.
    pub fn head(&self, place: Option<&Path>, all: &[By], hides_reads: bool) -> String {
        let first = || all.first().map_or(Path::new(""), |by| &by.touch.path);
        let edits = all.iter().filter(|by| by.touch.deed.is_edit()).count();
        let mut sessions: Vec<usize> = all.iter().map(|by| by.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let counts = [(edits, "edit"), (all.len() - edits, "read")]
            .into_iter()
            .filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| plural(count, what)).collect();
        let path = self.path(place.unwrap_or_else(first));
        let hint = if hides_reads {
            "; --reads shows these, too"
        } else {
            ""
        };
        let about = format!(
            "  {} by {}{hint}",
            counts.join(", "),
            plural(sessions.len(), "session")
        );
        let room = self
            .style
            .width
            .map_or(usize::MAX, |all| all.saturating_sub(width(&path)));
        format!(
            "{}{}",
            self.style.paint(Tone::Strong, &path),
            self.style.paint(Tone::Faint, &cut(&about, room))
        )
    }

    /// Two lines for each that was done, the newest first: what and why, and the command that opens it there. What one
    /// session did in a row for one prompt is one.
    pub fn history(&self, place: Option<&Path>, all: &[&By], opener: &Opener) -> Vec<String> {
        let is_same = |a: &&By, b: &&By| {
            (
                a.session,
                &a.touch.subagent,
                a.touch.deed,
                &a.touch.prompt,
                &a.touch.path,
            ) == (
                b.session,
                &b.touch.subagent,
                b.touch.deed,
                &b.touch.prompt,
                &b.touch.path,
            )
        };
        let zone = self.env.zone();
        let rows: Vec<(String, &By)> = all
            .chunk_by(is_same)
            .map(|group| (deeds(&[(group[0].touch.deed, group.len())]), group[0]))
            .collect();
        let agent = |by: &By| {
            let subagent = if by.touch.subagent.is_some() {
                " subagent"
            } else {
                ""
            };
            format!(
                "{}{subagent}",
                self.gate
                    .line(self.sessions[by.session].session.format.label())
            )
        };
        let done = rows.iter().map(|(deed, _)| width(deed)).max().unwrap_or(0);
        let agents = rows
            .iter()
            .map(|(_, by)| width(&agent(by)))
            .max()
            .unwrap_or(0);
        let mut lines = Vec::new();
        for (deed, by) in &rows {
            let By { session, touch } = by;
            let stamp = touch
                .time
                .map(|time| zone.local(time))
                .map(|(day, time)| format!("{day} {time}"));
            let file = place.map_or_else(String::new, |_| format!("{}  ", self.path(&touch.path)));
            let prompt = touch
                .prompt
                .as_deref()
                .map_or_else(|| "(no prompt)".into(), |prompt| self.gate.line(prompt));
            let used = STAMP + 2 + done + 2 + agents + 2 + width(&file);
            let room = self
                .style
                .width
                .map_or(usize::MAX, |all| all.saturating_sub(used).max(20));
            lines.push(format!(
                "{}  {}  {}  {file}{}",
                self.style
                    .paint(Tone::Faint, &pad(&stamp.unwrap_or_default(), STAMP)),
                self.style.paint(Tone::Strong, &pad(deed, done)),
                pad(&agent(by), agents),
                self.style.paint(Tone::User, &cut(&prompt, room)),
            ));
            let open = opener.command(
                &self.sessions[*session],
                touch.subagent.as_deref(),
                Some(touch.line),
            );
            let open = format!("{:indent$}{open}", "", indent = STAMP + 2);
            lines.push(self.style.paint(Tone::Faint, &open).into_owned());
        }
        lines
    }

    /// A file for a program.
    pub fn file_json(&self, file: &TouchedFile) -> Object {
        let who = file.who.iter().map(|who| {
            let mut object = self.session_json(who.session);
            let acts: Vec<&str> = who.deeds.iter().map(|(deed, _)| deed.name()).collect();
            object.0.extend(
                object! { acts, edits: who.edits(), reads: who.reads, time: who.time.map(iso) }.0,
            );
            object.without_nulls()
        });
        object! {
            path: file.path.to_string_lossy(),
            conflict: file.conflict,
            time: file.time.map(iso),
            edits: file.edits,
            reads: file.who.iter().map(|who| who.reads).sum::<usize>(),
            sessions: who.collect::<Vec<_>>(),
        }
    }

    /// One touch for a program.
    pub fn touch_json(&self, By { session, touch }: &By) -> Object {
        let mut object = self.session_json(*session);
        let rest = object! {
            path: touch.path.to_string_lossy(),
            act: touch.deed.name(),
            time: touch.time.map(iso),
            tool: touch.tool,
            prompt: touch.prompt.as_deref(),
            line: touch.line,
            subagent: touch.subagent.is_some().then_some(true),
            transcript: touch.subagent.as_deref().map(Path::to_string_lossy),
        };
        object.0.extend(rest.0);
        object.without_nulls()
    }

    fn session_json(&self, session: usize) -> Object {
        let listed = &self.sessions[session];
        object! {
            session: listed.session.id,
            handle: listed.handle(),
            name: listed.session.name,
            agent: listed.session.format.label(),
            title: listed.tally.title(),
        }
    }
}

/// As many of some parts as there is room for, and how many there are besides.
fn fitting(parts: &[String], room: usize) -> String {
    let with = |count: usize| {
        let more = parts.len() - count;
        let more = if more > 0 {
            format!("; +{more} more")
        } else {
            String::new()
        };
        parts[..count].join("; ") + &more
    };
    let fits = (1..=parts.len())
        .rev()
        .map(with)
        .find(|text| width(text) <= room);
    fits.unwrap_or_else(|| cut(&with(1.min(parts.len())), room).into_owned())
}

fn is_now(time: Time, env: &Env) -> bool {
    time.age(env.now()) == "just now"
}

fn deeds(deeds: &[(Deed, usize)]) -> String {
    let deed = |(deed, count): &(Deed, usize)| match count {
        1 => deed.name().to_owned(),
        count => format!("{} {count}x", deed.name()),
    };
    deeds.iter().map(deed).collect::<Vec<_>>().join(", ")
}

/// As much of the end of a path as fits.
fn cut_start(path: &str, room: usize) -> String {
    if width(path) <= room {
        return path.into();
    }
    let end = path
        .char_indices()
        .find(|(at, _)| width(substr(path, *at..)) < room)
        .map_or(path.len(), |(at, _)| at);
    format!("…{}", substr(path, end..))
}
