//! What a call carries beside its subjects, by the keys of its tool.

use std::borrow::Cow;

use super::text::Raw;
use super::verbs::Changed;
use super::walk::{elements, members};
use crate::entry::{Asked, Change, Detail, Task, TaskState};
use crate::format::descriptor::{TaskKeys, Tool, ToolVerb};

/// The details of a call, if its tool has any.
pub fn detail(tool: &Tool, input: Raw) -> Option<Detail> {
    let wants =
        !tool.new.0.is_empty() || !tool.old.0.is_empty() || tool.verb == Some(ToolVerb::Patch);
    let asks = tool.tasks.is_some()
        || tool.task.is_some()
        || tool.question.is_some()
        || tool.plan.is_some();
    if !wants && !asks {
        return None;
    }
    let all = |paths: &[String]| {
        let mut found = Vec::new();
        paths.iter().for_each(|path| texts(input, path, &mut found));
        if found.len() == 1 {
            found.remove(0).into_owned()
        } else {
            found.join("\n")
        }
    };
    let one = |path: &Option<String>| {
        path.as_ref()
            .map(|path| all(std::slice::from_ref(path)))
            .filter(|text| !text.is_empty())
    };
    let changes = match tool.verb {
        Some(ToolVerb::Patch) => patched(&all(&tool.subject.0)),
        _ if !wants => Vec::new(),
        _ => vec![Change {
            path: None,
            added: all(&tool.new.0),
            removed: all(&tool.old.0),
            whole: tool.old.0.is_empty(),
            deleted: false,
        }],
    };
    let mut detail = Detail {
        changes,
        question: one(&tool.question),
        plan: one(&tool.plan),
        asked: asked(tool, input),
        ..Detail::default()
    };
    if let Some(keys) = &tool.tasks {
        detail.all_tasks = true;
        let list = at(input, &keys.list).map(elements).unwrap_or_default();
        detail.tasks = list.into_iter().map(|item| task(item, keys)).collect();
    }
    if let Some(keys) = &tool.task {
        detail.tasks = vec![task(input, keys)];
    }
    Some(detail)
}

/// The questions of a call. Where there is a list of them, the answers to each are below the same element.
fn asked(tool: &Tool, input: Raw) -> Vec<Asked> {
    let Some(question) = &tool.question else {
        return Vec::new();
    };
    let (list, below) = question.split_once('*').unwrap_or(("", question));
    let is_list = below.len() < question.len();
    let each = if is_list {
        at(input, list).map(elements).unwrap_or_default()
    } else {
        vec![input]
    };
    let text = |value: Raw, path: &str| at(value, path).and_then(Raw::text).map(Cow::into_owned);
    // `questions/*/options/*/label`: the list of answers, and what each is called.
    let leaf = |path: &Option<String>| {
        let (list, leaf) = path.as_ref()?.rsplit_once('*')?;
        let list = list.split_once('*').map_or(list, |(_, below)| below);
        Some((list.to_owned(), leaf.to_owned()))
    };
    let (options, about) = (leaf(&tool.options), leaf(&tool.about));
    let answer = |option: Raw, label: &str| {
        let about = about.as_ref().and_then(|(_, about)| text(option, about));
        Some((text(option, label)?, about.unwrap_or_default()))
    };
    let answers = |element: Raw| {
        let (list, label) = options.as_ref()?;
        let all = elements(at(element, list)?);
        Some(
            all.into_iter()
                .filter_map(|one| answer(one, label))
                .collect(),
        )
    };
    let one = |element: Raw| Asked {
        text: text(element, below).unwrap_or_default(),
        options: answers(element).unwrap_or_default(),
    };
    each.into_iter().map(one).collect()
}

/// The details of a patch that a command hands to a program.
pub fn handed(patch: &str) -> Detail {
    Detail {
        changes: patched(patch),
        ..Detail::default()
    }
}

/// The details of changes that the client reports by path.
pub fn changed(changes: Vec<Changed>) -> Detail {
    let change = |Changed {
                      path,
                      moved,
                      kind,
                      content,
                      diff,
                  }: Changed| {
        let [mut added, mut removed] = [String::new(), String::new()];
        for line in diff.unwrap_or_default().lines() {
            take_line(line, &mut added, &mut removed);
        }
        let (whole, deleted) = (kind == "add", kind == "delete");
        *if deleted { &mut removed } else { &mut added } += &content.unwrap_or_default();
        Change {
            path: Some(moved.unwrap_or(path)),
            added,
            removed,
            whole,
            deleted,
        }
    };
    Detail {
        changes: changes.into_iter().map(change).collect(),
        ..Detail::default()
    }
}

/// A line of a patch, if it adds or removes one.
fn take_line(line: &str, added: &mut String, removed: &mut String) {
    let (text, line) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
        (Some(line), _) => (added, line),
        (_, Some(line)) => (removed, line),
        _ => return,
    };
    *text += line;
    text.push('\n');
}

/// The files of a patch, each with its own lines.
fn patched(patch: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in patch.lines() {
        let file = ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
            .iter()
            .enumerate()
            .find_map(|(kind, mark)| Some((kind, line.strip_prefix(mark)?.trim())));
        match (file, changes.last_mut()) {
            (Some((kind, path)), _) => changes.push(Change {
                path: Some(path.into()),
                whole: kind == 0,
                deleted: kind == 2,
                ..Change::default()
            }),
            (None, None) => {}
            (None, Some(change)) => match line.strip_prefix("*** Move to: ") {
                Some(path) => change.path = Some(path.trim().into()),
                None => take_line(line, &mut change.added, &mut change.removed),
            },
        }
    }
    changes
}

fn task(item: Raw, keys: &TaskKeys) -> Task {
    let text = |path: &Option<String>| {
        let value = at(item, path.as_ref()?)?;
        value
            .scalar()
            .filter(|_| matches!(value.0[0], b'"' | b'-' | b'0'..=b'9'))
            .map(Cow::into_owned)
    };
    let blocked = keys.blocked.as_ref().and_then(|path| at(item, path));
    let blocked = blocked
        .filter(|by| !elements(*by).is_empty())
        .map(|_| TaskState::Blocked);
    let state = text(&keys.state).and_then(|state| TaskState::parse(&state));
    Task {
        id: text(&keys.id),
        text: text(&keys.text),
        state: state.or(blocked),
    }
}

/// The value at a path.
fn at<'v>(value: Raw<'v>, path: &str) -> Option<Raw<'v>> {
    path.split('/')
        .filter(|key| !key.is_empty())
        .try_fold(value, |value, key| match value.0.first()? {
            b'[' => elements(value).get(key.parse::<usize>().ok()?).copied(),
            _ => members(value)
                .into_iter()
                .find(|(known, _)| known == key)
                .map(|(_, member)| member),
        })
}

/// All texts at a path; `*` is every element of a list.
fn texts<'v>(value: Raw<'v>, path: &str, found: &mut Vec<Cow<'v, str>>) {
    match path.split_once('*') {
        Some((before, after)) => {
            let list = at(value, before).map(elements).unwrap_or_default();
            list.into_iter()
                .for_each(|element| texts(element, after, found));
        }
        None => found.extend(at(value, path).and_then(Raw::text)),
    }
}
