//! `session-reader export`: a session as one file for others, without secrets.
//!
//! The session is read once, from its start; its head is written last, when all is counted, and the file takes its place only
//! when it is whole. What a block says is decided in `block`; the pages, `html` and `md`, lay it out.
//!
//! Which file uses which:
//! ```text
//! html, md ──▶ block, rendered
//! ```

mod block;
mod html;
mod md;
mod rendered;
mod review;
mod spool;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::block::{Block, Blocks, Counts};
use self::html::Html;
use self::md::Markdown;
use self::spool::Spool;
use super::args::ExportArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::Answer;
use session_core::ask::log::{Origin, whole};
use session_core::file::{self, Unreadable};
use session_core::fold::Tally;
use session_core::read::Wanted;
use session_core::session::choose::Resolved;
use session_core::session::index;
use session_core::show::figures::counted;
use session_core::show::gate::Gate;
use session_core::show::withheld::Withheld;
use session_core::state;
use session_format::path::shell_path;

/// What an export says that it was made by, so that one is known again.
const GENERATOR: &str = "session-reader export";
/// A comment on GitHub has no more characters.
const COMMENT: u64 = 65_536;

/// How an export is laid out.
trait Page {
    /// True for the beginning of such a page.
    fn is_mine(&self, beginning: &str) -> bool;
    fn head(&self, about: &About) -> String;
    fn block(&self, block: &Block) -> String;
    fn foot(&self, about: &About) -> String;
}

/// What an export says about the whole session.
pub struct About {
    title: String,
    facts: String,
    /// What is hidden; empty if nothing is.
    left_out: String,
    counts: Counts,
    prompts: Vec<String>,
    program: String,
    written: String,
}

/// Where an export goes.
enum Target {
    Stdout,
    File(PathBuf),
    /// A device or a pipe, which cannot be replaced.
    Stream(PathBuf),
}

pub fn run(args: &ExportArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let name = args.name.as_deref().unwrap_or("last");
    let resolved = stage.resolve(name)?;
    let target = target(args, &resolved, stage)?;
    // The gate is handed to whoever shows something; the program ends with it.
    let withheld: &'static Withheld =
        Box::leak(Box::new(Withheld::new(&stage.env.home, args.review)));
    let gate = if args.reveal && !args.review {
        Gate::new(false)
    } else {
        Gate::for_others(withheld)
    };
    let origin = complete(Origin::of(&resolved.session, None))?;
    let cwd = origin.cwd.as_deref().map(|cwd| gate.line(cwd).into_owned());
    let mut blocks = Blocks {
        gate,
        withheld,
        zone: stage.env.zone(),
        hidden: Origin {
            cwd,
            ..Origin::default()
        },
        origin,
        is_full: args.full,
        only_prompts: args.prompts,
        day: String::new(),
        counts: Counts::default(),
        prompts: Vec::new(),
        span: None,
    };
    let page: &dyn Page = if args.is_markdown() { &Markdown } else { &Html };
    let mut body = Spool::new(stage.env);
    let wanted = Wanted {
        since: args.since.map(|since| since.time(stage.env)),
        full: true,
        results: true,
        unfinished: true,
        ..Wanted::default()
    };
    let tally = whole(&resolved, stage.ask(), wanted, &mut |passage| {
        for block in blocks.of(passage) {
            body.push(&page.block(&block));
        }
    })?;
    let tally = complete(tally)?;
    if blocks.counts.shown == 0 {
        let when = if args.since.is_some() {
            "since then"
        } else {
            "yet"
        };
        return Problem::nothing(format!("nothing was said in '{name}' {when}"));
    }
    let handle = index::handle(&resolved.session, stage.env, stage.formats);
    let about = about(&tally, blocks, &resolved, &handle, args, stage);
    if args.review {
        return review::show(withheld, &about, name, args.reveal, stage);
    }
    let (head, foot) = (page.head(&about), page.foot(&about));
    let length = head.len() as u64 + body.length + foot.len() as u64;
    let mut write = |out: &mut dyn Write| {
        out.write_all(head.as_bytes())?;
        body.copy_to(out)?;
        out.write_all(foot.as_bytes())
    };
    let path = match target {
        Target::Stdout => {
            write(stage.out)?;
            return Ok(Exit::Found);
        }
        Target::File(path) => {
            state::replace_with(&path, write).map_err(|error| failed(&path, &error))?;
            path
        }
        Target::Stream(path) => {
            let written = file::open_stream(&path).and_then(|mut out| write(&mut out));
            written.map_err(|error| failed(&path, &error))?;
            path
        }
    };
    let says = written(&path, length, &about, &handle, args, stage);
    stage.print_lines([says])
}

fn failed(path: &Path, error: &io::Error) -> Problem {
    Problem::Trouble(format!("{}: {error}", path.display()))
}

/// An answer for which every file could be read. From less, something may be missing that others take for granted.
fn complete<T>((value, unreadable): Answer<T>) -> Result<T, Unreadable> {
    unreadable.into_iter().next().map_or(Ok(value), Err)
}

/// Where the export goes, before the work begins: what stands there already is replaced only if it is an export.
fn target(args: &ExportArgs, resolved: &Resolved, stage: &Stage) -> Result<Target, Problem> {
    let given = args.output.as_deref();
    let is_terminal = stage.style.height.is_some();
    if args.review || given == Some("-") || given.is_none() && !is_terminal {
        return Ok(Target::Stdout);
    }
    let name = given.map_or_else(|| file_name(args, resolved, stage), str::to_owned);
    let path = stage.env.cwd.join(name);
    let shown = path.display();
    let unreadable = |error: io::Error| failed(&path, &error);
    let Some(meta) = file::stat(&path)? else {
        let parent = path
            .parent()
            .filter(|parent| file::stat(parent).is_ok_and(|meta| meta.is_some()));
        return match parent {
            Some(_) => Ok(Target::File(path)),
            None => Problem::trouble(format!("{shown}: no such directory; make it first")),
        };
    };
    if meta.is_dir() {
        return Problem::trouble(format!("{shown}: is a directory; name a file in it"));
    }
    if !meta.is_file() {
        return Ok(Target::Stream(path));
    }
    if !is_export(&path).map_err(unreadable)? {
        return Problem::trouble(format!(
            "{shown}: is there already, and no export; name another file with -o, or remove it"
        ));
    }
    // What a link leads to is replaced, not the link.
    Ok(Target::File(path.canonicalize().map_err(unreadable)?))
}

fn is_export(path: &Path) -> io::Result<bool> {
    let beginning = file::beginning(path, 1024)?;
    let beginning = String::from_utf8_lossy(&beginning);
    Ok(beginning.is_empty() || Html.is_mine(&beginning) || Markdown.is_mine(&beginning))
}

/// `api.html`: what the user calls the session, without what a file name must not have.
fn file_name(args: &ExportArgs, resolved: &Resolved, stage: &Stage) -> String {
    let handle = index::handle(&resolved.session, stage.env, stage.formats);
    let handle = handle.rsplit('/').next().unwrap_or_default();
    let handle = handle.strip_suffix(".jsonl").unwrap_or(handle);
    let shown = Gate::new(true).line(handle).into_owned();
    let is_plain = |char: char| char.is_alphanumeric() || "._-".contains(char);
    let plain = shown.replace(|char| !is_plain(char), "-");
    let plain: String = plain.trim_matches(['.', '-']).chars().take(80).collect();
    let plain = if plain.is_empty() { "session" } else { &plain };
    let extension = if args.is_markdown() { "md" } else { "html" };
    format!("{plain}.{extension}")
}

fn about(
    tally: &Tally,
    blocks: Blocks,
    resolved: &Resolved,
    handle: &str,
    args: &ExportArgs,
    stage: &Stage,
) -> About {
    let Blocks {
        gate,
        withheld,
        counts,
        prompts,
        span,
        hidden,
        zone,
        ..
    } = blocks;
    withheld.at_line(0);
    let title = tally.title().map(|title| gate.line(title).into_owned());
    let title = title.filter(|title| !title.is_empty());
    let span = span.map(|[(day, from), (last_day, until)]| {
        let last_day = if day == last_day {
            String::new()
        } else {
            format!("{last_day} ")
        };
        let zone = zone.offset(tally.updated.unwrap_or(stage.env.now()));
        format!("{day} {from} to {last_day}{until} {zone}")
    });
    let made = [
        (counts.prompts, "prompt"),
        (counts.calls, "call"),
        (counts.failed, "failure"),
    ];
    let facts = [
        Some(resolved.session.format.head().agent.clone()),
        hidden.cwd,
        tally
            .model
            .as_deref()
            .map(|model| gate.line(model).into_owned()),
        span,
        Some(listed(&made)),
    ];
    let [secrets, homes] = withheld.counts();
    let left_out = listed(&[
        (secrets, "secret"),
        (homes, "home path"),
        (counts.images, "image"),
        (counts.unreadable, "unreadable line"),
    ]);
    let left_out = match (left_out.is_empty(), args.reveal) {
        (true, false) => String::new(),
        (false, false) => format!("{left_out} left out."),
        (true, true) => "Nothing is hidden in this export.".into(),
        (false, true) => {
            format!("Secrets and home paths are not hidden in this export; {left_out} left out.")
        }
    };
    About {
        title: title.unwrap_or_else(|| gate.line(handle).into_owned()),
        facts: facts
            .into_iter()
            .flatten()
            .filter(|fact| !fact.is_empty())
            .collect::<Vec<_>>()
            .join(" · "),
        left_out,
        counts,
        prompts,
        program: format!("session-reader {}", env!("CARGO_PKG_VERSION")),
        written: zone.local(stage.env.now()).0,
    }
}

/// `5 prompts, 1 call`: those of which there are any.
fn listed(counts: &[(u64, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let all: Vec<_> = some.map(|(count, unit)| counted(*count, unit)).collect();
    all.join(", ")
}

/// What was written, and what to do next.
fn written(
    path: &Path,
    length: u64,
    about: &About,
    handle: &str,
    args: &ExportArgs,
    stage: &Stage,
) -> String {
    let shown = path.strip_prefix(&stage.env.cwd).unwrap_or(path).display();
    let entries = match about.counts.shown {
        1 => "1 entry".into(),
        shown => format!("{} entries", session_core::show::figures::number(shown)),
    };
    let size = match length {
        0..10_000 => counted(length, "byte"),
        10_000..10_000_000 => format!("{} KB", length / 1000),
        length => format!("{} MB", length / 1_000_000),
    };
    let mut says = format!("{shown}: {entries}, {size}");
    if !about.left_out.is_empty() {
        says += &format!("\n{}", about.left_out);
    }
    if !about.left_out.is_empty() && !args.reveal {
        says += &format!(
            " See what: session-reader export {} --review",
            shell_path(&stage.gate.line(handle))
        );
    }
    if args.is_markdown() && length > COMMENT {
        says += "\nToo long for a comment on GitHub (65,536 characters): --prompts or --since make it shorter";
    }
    says
}
