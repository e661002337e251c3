//! `session-reader files`: who touched which file, and the history of one.

use super::args::FilesArgs;
use super::{Exit, Problem, Stage};
use session_core::ask::files::{By, FileHistory, Files, Meant, files, history};
use session_core::env::Env;
use session_core::session::index::Listed;
use session_core::session::{Project, subagent};
use session_core::show::files::FileView;
use session_core::show::log::Opener;
use session_format::path::shell_path;
use session_format::time::{DAY, Time};

/// The list of files goes back so far.
const WEEK: i64 = 7 * DAY;

pub fn run(args: &FilesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    match args.path.as_deref() {
        Some(path) if path.trim().is_empty() => {
            Problem::trouble("which file? Give its path, its name, or a directory")
        }
        Some(path) => show_history(path, args, stage),
        None => show_list(args, stage),
    }
}

/// A line for each file.
fn show_list(args: &FilesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    let week = Time(stage.env.now().0 - WEEK);
    let since = args.since.map_or(week, |since| since.time(stage.env));
    let Files {
        sessions,
        elsewhere,
        files,
    } = stage.heard(files(args.all, args.reads, since, stage.ask()));
    if sessions.is_empty() {
        return Problem::nothing(super::none(args.all, false, elsewhere, "--all"));
    }
    if files.is_empty() {
        let place = if args.all {
            "on this machine"
        } else {
            "in this project"
        };
        let what = if args.reads { "touched" } else { "edited" };
        let hint = if args.since.is_none() {
            "in the last 7 days; --since 30d looks further back"
        } else {
            "since then"
        };
        return Problem::nothing(format!("no file was {what} {place} {hint}"));
    }
    let view = view(&sessions, stage.env, stage);
    if args.json {
        return files.iter().try_fold(Exit::Found, |_, file| {
            stage.print_json(&view.file_json(file))
        });
    }
    stage.print_lines(view.table(&files))
}

/// Everything that was done to a file, or to the files in a directory.
fn show_history(path: &str, args: &FilesArgs, stage: &mut Stage) -> Result<Exit, Problem> {
    const SHOWN: usize = 5;
    let since = args.since.map(|since| since.time(stage.env));
    let FileHistory { sessions, meant } = stage.heard(history(path, since, stage.ask()));
    let view = view(&sessions, stage.env, stage);
    let (dir, touches) = match meant {
        Meant::Found { dir, touches } => (dir, touches),
        Meant::Nothing { nearest } => {
            let when = if args.since.is_some() {
                " since then"
            } else {
                ""
            };
            let hint = nearest.map(|nearest| format!("; did you mean {}?", view.path(&nearest)));
            return Problem::nothing(format!(
                "no session touched '{path}'{when}{}",
                hint.unwrap_or_default()
            ));
        }
        Meant::Several(files) => {
            let names = files
                .iter()
                .take(SHOWN)
                .map(|file| format!("\n  {}", shell_path(&view.path(file))));
            let mut names: String = names.collect();
            if files.len() > SHOWN {
                names += &format!("\n  and {} more", files.len() - SHOWN);
            }
            return Problem::trouble(format!(
                "'{path}' fits {} files; name one of them:{names}",
                files.len()
            ));
        }
    };
    let any_edit = touches.iter().any(|by| by.touch.deed.is_edit());
    let shown: Vec<&By> = touches
        .iter()
        .filter(|by| args.reads || !any_edit || by.touch.deed.is_edit())
        .collect();
    if args.json {
        return shown
            .iter()
            .try_fold(Exit::Found, |_, by| stage.print_json(&view.touch_json(by)));
    }
    let by_subagent = shown.iter().any(|by| by.touch.subagent.is_some());
    let subagents = if by_subagent {
        stage.heard(stage.ask().look(subagent::all))
    } else {
        Vec::new()
    };
    let opener = Opener {
        env: stage.env,
        gate: stage.gate,
        subagents: &subagents,
    };
    let head = view.head(dir.as_deref(), &touches, shown.len() < touches.len());
    stage.print_lines(
        [head]
            .into_iter()
            .chain(view.history(dir.as_deref(), &shown, &opener)),
    )
}

fn view<'v>(sessions: &'v [Listed<'v>], env: &'v Env, stage: &Stage) -> FileView<'v> {
    let root = Project::of(env, &env.cwd).dir().to_path_buf();
    FileView {
        sessions,
        env,
        root,
        gate: stage.gate,
        style: stage.style,
    }
}
