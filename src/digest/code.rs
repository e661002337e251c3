//! What was written and run: definitions in written text, the kind of work that a command is, commits, short paths.
//!
//! Text in, facts out. A definition is told by how its line begins, in the language that the file's name says; a command
//! by the program that it runs and that program's arguments, never by words anywhere in it. Nothing is executed, parsed
//! in full or looked up.

use std::collections::{HashMap, HashSet};

use super::lexicon::one_of;

// ---- Definitions

/// A function or a class.
#[derive(Debug, Clone, PartialEq)]
struct Definition<'a> {
    name: &'a str,
    function: bool,
}

/// How a language defines things.
enum Language {
    /// By words: those that may come before, those that define a function, those that define a class.
    Words {
        before: &'static str,
        functions: &'static str,
        classes: &'static str,
    },
    Script,
    Go,
    /// Java and C#.
    Members,
    /// C and C++.
    C,
    Shell,
}

fn language(path: &str) -> Option<Language> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (_, end) = name.rsplit_once('.')?;
    Some(match end.to_ascii_lowercase().as_str() {
        "rs" => Language::Words {
            before: "pub pub(crate) pub(super) pub(self) const async unsafe default extern \"C\"",
            functions: "fn",
            classes: "",
        },
        "py" | "pyi" | "pyw" => Language::Words { before: "async", functions: "def", classes: "class" },
        "rb" | "rake" => {
            Language::Words { before: "private public protected", functions: "def", classes: "class module" }
        }
        "php" => Language::Words {
            before: "public private protected static final abstract readonly",
            functions: "function",
            classes: "class trait interface",
        },
        "kt" | "kts" => Language::Words {
            before: "public private internal protected open override suspend inline abstract final data sealed operator \
                infix tailrec external actual expect enum",
            functions: "fun",
            classes: "class object interface",
        },
        "swift" => Language::Words {
            before: "public private internal fileprivate open override static final mutating nonisolated @objc @MainActor \
                @discardableResult",
            functions: "func",
            classes: "class struct protocol actor",
        },
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => Language::Script,
        "go" => Language::Go,
        "java" | "cs" => Language::Members,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Language::C,
        "sh" | "bash" | "zsh" => Language::Shell,
        _ => return None,
    })
}

/// The functions and classes that a text defines, each once, in their order.
pub fn functions(path: &str, added: &str) -> Vec<String> {
    let lines: Vec<&str> = added.lines().collect();
    let mut seen = HashSet::new();
    let found = definitions(path, &lines).into_iter().map(|(_, found)| found.name).filter(|name| seen.insert(*name));
    found.map(str::to_owned).collect()
}

/// The definitions in lines, each with the line that it is in.
fn definitions<'a>(path: &str, lines: &[&'a str]) -> Vec<(usize, Definition<'a>)> {
    let Some(language) = language(path) else { return Vec::new() };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = || lines[at + 1..].iter().take(12);
        let definition = match &language {
            Language::Words { before, functions, classes } => by_words(line, before, functions, classes),
            Language::Script => script(line, next),
            Language::Go => go(line),
            Language::Members => member(line, next),
            Language::C => c(line, next),
            Language::Shell => shell(line),
        };
        found.extend(definition.map(|definition| (at, definition)));
    }
    found
}

/// The name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '$')).unwrap_or(text.len());
    let begins = text.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '$'));
    (begins && end > 0).then(|| &text[..end])
}

fn function(name: &str) -> Option<Definition<'_>> {
    Some(Definition { name, function: true })
}

fn class(name: &str) -> Option<Definition<'_>> {
    Some(Definition { name, function: false })
}

/// The text after a word that it begins with.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

/// The text after all the words that may come before a definition.
fn skip<'a>(mut text: &'a str, words: &str) -> &'a str {
    text = text.trim_start();
    while let Some(rest) = words.split(' ').find_map(|word| after(text, word)) {
        text = rest;
    }
    text
}

fn by_words<'a>(line: &'a str, before: &str, functions: &str, classes: &str) -> Option<Definition<'a>> {
    let text = skip(line, before);
    if let Some(rest) = functions.split(' ').find_map(|word| after(text, word)) {
        // Kotlin's type parameters and receivers, Ruby's `self.`, PHP's reference.
        let rest = rest.strip_prefix('<').and_then(|rest| Some(rest.split_once('>')?.1.trim_start())).unwrap_or(rest);
        let head = rest.split(['(', ' ', ';', '{', ':', '=']).next().unwrap_or_default();
        let own = head.rsplit('.').next().unwrap_or(head).trim_start_matches('&');
        let whole = name(own)?;
        let hidden = whole.starts_with("__") && whole.ends_with("__");
        return function(whole).filter(|_| !hidden);
    }
    let rest = classes.split(' ').find_map(|word| after(text, word))?;
    let whole = name(rest)?;
    let next = rest[whole.len()..].trim_start();
    // Prose in a comment or a text goes on with a word.
    let prose = next.starts_with(char::is_alphabetic)
        && !["extends", "implements", "where"].iter().any(|word| next.starts_with(word));
    class(whole).filter(|_| !prose)
}

/// The rest after the bracket that closes the one a text begins with.
fn after_brackets(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&text[at + 1..]);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn script<'a, 'n, I: Iterator<Item = &'n &'n str>>(line: &'a str, next: impl Fn() -> I) -> Option<Definition<'a>> {
    let text = skip(line, "export default declare async abstract");
    if let Some(rest) = text.strip_prefix("function").filter(|rest| rest.starts_with([' ', '*'])) {
        return function(name(rest.trim_start_matches(['*', ' ']))?);
    }
    if let Some(rest) = after(text, "class") {
        return class(name(rest)?).filter(|class| class.name != "extends");
    }
    if let Some(rest) = ["const", "let", "var"].iter().find_map(|word| after(text, word)) {
        let variable = name(rest)?;
        let tail = rest[variable.len()..].trim_start();
        let (typed, value) = tail
            .match_indices('=')
            .find(|(at, _)| !tail[at + 1..].starts_with('>'))
            .map(|(at, _)| (&tail[..at], &tail[at + 1..]))?;
        let known = typed.is_empty() || typed.starts_with(':');
        return function(variable).filter(|_| known && is_function_value(value.trim_start(), next));
    }
    method(text)
}

/// `(a, b) => …`, `async x => …`, `function () {`, also over several lines.
fn is_function_value<'n, I: Iterator<Item = &'n &'n str>>(value: &str, next: impl Fn() -> I) -> bool {
    let value = skip(value, "async");
    let value = value.strip_prefix("async").filter(|rest| rest.starts_with('(')).unwrap_or(value);
    if value.starts_with("function") {
        return true;
    }
    let value = value
        .strip_prefix('<')
        .and_then(|rest| Some(rest.split_once(">(")?.1))
        .map_or(value, |rest| &value[value.len() - rest.len() - 1..]);
    if value.trim_end() == "(" {
        return next().find(|line| line.trim_start().starts_with(')')).is_some_and(|line| line.contains("=>"));
    }
    let arrow = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with("=>") || rest.starts_with(':') && rest.contains("=>")
    };
    match value.strip_prefix('(') {
        Some(_) => after_brackets(value).is_some_and(arrow),
        None => name(value).is_some_and(|argument| value[argument.len()..].trim_start().starts_with("=>")),
    }
}

/// `async load(id) {` in a class.
fn method(text: &str) -> Option<Definition<'_>> {
    const NEVER: &str = "if for while switch catch function constructor return with else do";
    let text = skip(text, "public private protected static override readonly async get set");
    let method = name(text.trim_start_matches(['#', '*']))?;
    let rest = &text.trim_start_matches(['#', '*'])[method.len()..];
    let tail = after_brackets(rest)?.trim();
    let opens = tail == "{" || tail.starts_with(':') && tail.ends_with('{') && !tail.contains('?');
    function(method).filter(|_| opens && !one_of(NEVER, method))
}

fn go(line: &str) -> Option<Definition<'_>> {
    let rest = after(line, "func")?;
    let rest = if rest.starts_with('(') { after_brackets(rest)?.trim_start() } else { rest };
    let found = name(rest)?;
    function(found).filter(|_| rest[found.len()..].starts_with(['(', '[']))
}

/// Members and classes with a modifier before them, as nearly all have.
fn member<'a, 'n, I: Iterator<Item = &'n &'n str>>(line: &'a str, next: impl Fn() -> I) -> Option<Definition<'a>> {
    const MODIFIERS: &str = "public private protected internal static final abstract override virtual async sealed synchronized partial \
        default native readonly unsafe extern";
    const CLASSES: &str = "class interface enum record struct";
    let text = skip(line, MODIFIERS);
    if let Some(rest) = CLASSES.split(' ').find_map(|word| after(text, word)) {
        let whole = name(rest)?;
        let tail = rest[whole.len()..].trim_start();
        let heads = tail.is_empty()
            || tail.starts_with(['{', '<', ':', '('])
            || tail.starts_with("extends")
            || tail.starts_with("implements");
        return class(whole).filter(|_| heads);
    }
    if text.len() == line.trim_start().len() {
        return None;
    }
    let (head, _) = text.split_once('(')?;
    let found = last_name(head)?;
    let tail = line.trim_end();
    let opens = tail.ends_with('{')
        || tail.contains(") =>")
        || !tail.ends_with(';') && next().next().is_some_and(|line| line.trim() == "{");
    let called = head.contains(['=', '.', '"']) && !head.contains('<') || head.contains('=');
    function(found)
        .filter(|_| opens && !called && !["if", "for", "while", "switch", "catch", "new", "return"].contains(&found))
}

/// The name that a text ends with.
fn last_name(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let from = text
        .rfind(|char: char| !char.is_alphanumeric() && char != '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    name(&text[from..])
}

/// Functions that begin at the margin, with their type before the name and their body after.
fn c<'a, 'n, I: Iterator<Item = &'n &'n str>>(line: &'a str, next: impl Fn() -> I) -> Option<Definition<'a>> {
    const NEVER: &str = "if for while switch return else typedef using namespace case do sizeof template";
    if !line.starts_with(|char: char| char.is_alphabetic() || char == '_') {
        return None;
    }
    let first = name(line)?;
    let tail = line.trim_end();
    let opens = tail.ends_with('{')
        || !tail.ends_with([';', ',', ':']) && next().next().is_some_and(|line| line.trim_end() == "{");
    if one_of(NEVER, first) || !opens {
        return None;
    }
    if let Some(rest) = ["class", "struct", "enum class", "enum", "union"].iter().find_map(|word| after(line, word))
        && !line.contains('(')
    {
        return class(name(rest)?);
    }
    let (head, _) = line.split_once('(')?;
    let short = last_name(head)?;
    let from = head.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let whole = head.trim_end().get(from..)?.trim_start_matches(['*', '&']);
    let named = if whole.contains("::") && !whole.contains('<') { whole } else { short };
    let typed = named.len() < head.trim_end().len() || named.contains("::");
    function(named).filter(|_| typed && !head.contains('=') && !one_of(NEVER, short))
}

fn shell(line: &str) -> Option<Definition<'_>> {
    let text = line.trim_start();
    let (text, word) = after(text, "function").map_or((text, false), |rest| (rest, true));
    let end = text.find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-' | ':')).unwrap_or(text.len());
    let rest = text[end..].trim_start();
    let called = rest.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(')'));
    function(&text[..end]).filter(|_| end > 0 && (called || word && (rest.is_empty() || rest.starts_with('{'))))
}

// ---- Changes

/// What changed in a file, in a few words: `total(): +2 -1`.
pub fn summary(path: &str, added: &str, removed: &str, created: bool) -> String {
    let (new, old): (Vec<&str>, Vec<&str>) = (added.lines().collect(), removed.lines().collect());
    if created {
        return format!("new, {} line{}", new.len(), if new.len() == 1 { "" } else { "s" });
    }
    let before = new.iter().zip(&old).take_while(|(new, old)| new == old).count();
    let same = new[before..].iter().rev().zip(old[before..].iter().rev()).take_while(|(new, old)| new == old).count();
    let changed = |lines: &[&str]| lines.len() - before - same;
    let within = |lines: &[&str], at: usize| (before..lines.len() - same).contains(&at);
    let (defined, dropped) = (definitions(path, &new), definitions(path, &old));
    let first = defined.iter().find(|(at, _)| within(&new, *at));
    let around = || defined.iter().rev().find(|(at, _)| *at < before);
    let gone = || dropped.iter().find(|(at, _)| within(&old, *at));
    let symbol = first.or_else(around).or_else(gone).map(|(_, definition)| definition);
    let counts = format!("+{} -{}", changed(&new), changed(&old));
    match symbol {
        Some(Definition { name, function: true }) => format!("{name}(): {counts}"),
        Some(Definition { name, .. }) => format!("{name}: {counts}"),
        None => counts,
    }
}

/// Each path as short as it can be told from the others.
pub fn short_paths(paths: &[&str]) -> Vec<String> {
    /// Nobody reads more directories than that.
    const DEPTH: usize = 64;
    let trim = |path: &'_ str| path.trim_end_matches(['/', '\\']).len();
    let suffixes = |path: &str| -> Vec<usize> {
        let cuts = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
        cuts.take(DEPTH).chain([0]).collect()
    };
    let distinct: HashSet<&str> = paths.iter().map(|path| &path[..trim(path)]).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for path in &distinct {
        for from in suffixes(path) {
            *counts.entry(&path[from..]).or_default() += 1;
        }
    }
    let short = |path: &&str| {
        let path = &path[..trim(path)];
        let from = suffixes(path).into_iter().find(|from| counts.get(&path[*from..]) == Some(&1)).unwrap_or(0);
        path[from..].to_owned()
    };
    paths.iter().map(short).collect()
}

// ---- Commands

/// The kind of work that a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    Test,
    Build,
    Lint,
    Commit,
    Push,
    /// Anything else with git.
    Git,
    Deploy,
    Install,
    Other,
}

impl Work {
    pub fn name(self) -> &'static str {
        match self {
            Work::Test => "test",
            Work::Build => "build",
            Work::Lint => "lint",
            Work::Commit => "commit",
            Work::Push => "push",
            Work::Git => "git",
            Work::Deploy => "deploy",
            Work::Install => "install",
            Work::Other => "other",
        }
    }
}

/// The work that a command line is: of several the one that tells most, tests first.
pub fn work(command: &str) -> Work {
    const RANK: [Work; 8] =
        [Work::Test, Work::Build, Work::Lint, Work::Deploy, Work::Push, Work::Commit, Work::Install, Work::Git];
    let all = works(command);
    RANK.into_iter().find(|work| all.contains(work)).unwrap_or(Work::Other)
}

/// All the work that a command line is, in its order.
pub fn works(command: &str) -> Vec<Work> {
    let mut found = Vec::new();
    for words in commands(command) {
        let work = kind(&words);
        if work != Work::Other && !found.contains(&work) {
            found.push(work);
        }
    }
    found
}

/// What two runs of the same command have in common: no directory, no environment, no filter for the output.
pub fn normalised(command: &str) -> String {
    const ASIDE: &str = "cd pushd popd export source . set echo sleep true tail head grep egrep rg tee less cat sed awk wc sort uniq \
        cut printf";
    let all: Vec<Vec<String>> = commands(command);
    let runs: Vec<String> =
        all.iter().filter(|words| !one_of(ASIDE, &program(words))).map(|words| words.join(" ")).collect();
    let whole = if runs.is_empty() { all.iter().map(|words| words.join(" ")).collect() } else { runs };
    let joined = if whole.is_empty() { command.to_owned() } else { whole.join("; ") };
    joined.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line of the message that a command commits with.
pub fn commit_subject(command: &str) -> Option<String> {
    let commit = commands(command).into_iter().find(|words| kind(words) == Work::Commit)?;
    let mut words = commit.iter().skip_while(|word| *word != "commit").skip(1);
    while let Some(word) = words.next() {
        let short = word.starts_with('-') && !word.starts_with("--");
        let message = match word.strip_prefix("--message=") {
            Some(message) => message,
            None if word == "--message" => words.next()?,
            None if short && word.ends_with('m') => words.next()?,
            None if word.starts_with("-m") => &word[2..],
            None if word == "--file=-" || word == "-F-" => commit.last()?,
            None if (word == "-F" || word == "--file") && words.clone().next().is_some_and(|file| file == "-") => {
                commit.last()?
            }
            None => continue,
        };
        return subject(message);
    }
    None
}

fn subject(message: &str) -> Option<String> {
    let message = message.trim();
    let body = match message.strip_prefix("$(") {
        Some(_) => message.split_once("<<").and_then(|(_, body)| Some(body.split_once('\n')?.1))?,
        None => message,
    };
    let first = body.lines().map(str::trim).find(|line| !line.is_empty())?;
    (!first.starts_with('$')).then(|| first.to_owned())
}

/// The simple commands of a line, without what only starts them: `sudo`, `env A=b`, `npx`, `bash -lc "…"`.
fn commands(line: &str) -> Vec<Vec<String>> {
    const DEPTH: usize = 4;
    let mut found = Vec::new();
    let mut open: Vec<(usize, Vec<String>)> =
        Shell::new(line).commands().into_iter().rev().map(|words| (0, words)).collect();
    while let Some((depth, words)) = open.pop() {
        let words = unwrapped(words);
        match inner_script(&words).filter(|_| depth < DEPTH) {
            Some(script) => {
                open.extend(Shell::new(script).commands().into_iter().rev().map(|words| (depth + 1, words)))
            }
            None if words.is_empty() => {}
            None => found.push(words),
        }
    }
    found
}

/// The text that a shell is told to run.
fn inner_script(words: &[String]) -> Option<&str> {
    let shell = ["bash", "sh", "zsh", "dash", "fish", "ksh"].contains(&program(words).as_str());
    let flag = words
        .iter()
        .take(5)
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    words.get(flag + 1).map(String::as_str).filter(|_| shell)
}

/// Without what comes before the program that does the work.
fn unwrapped(mut words: Vec<String>) -> Vec<String> {
    /// Programs that run another one, with their options that take a value.
    const WRAPPERS: [(&str, &[&str]); 18] = [
        ("env", &["-u", "-C", "-S"]),
        ("cross-env", &[]),
        ("sudo", &["-u", "-g", "-h", "-p"]),
        ("doas", &["-u"]),
        ("time", &["-f", "-o"]),
        ("nice", &["-n"]),
        ("ionice", &["-c", "-n"]),
        ("nohup", &[]),
        ("command", &[]),
        ("exec", &[]),
        ("builtin", &[]),
        ("stdbuf", &["-i", "-o", "-e"]),
        ("timeout", &["-s", "-k"]),
        ("npx", &["-p", "--package"]),
        ("bunx", &[]),
        ("pnpx", &[]),
        ("xvfb-run", &[]),
        ("dotenv", &["-e", "-f"]),
    ];
    const RUNNERS: [(&str, &str); 14] = [
        ("pnpm", "exec"),
        ("pnpm", "dlx"),
        ("yarn", "exec"),
        ("yarn", "dlx"),
        ("npm", "exec"),
        ("npm", "x"),
        ("bun", "x"),
        ("poetry", "run"),
        ("uv", "run"),
        ("pipenv", "run"),
        ("bundle", "exec"),
        ("hatch", "run"),
        ("rye", "run"),
        ("pdm", "run"),
    ];
    const CONTROL: &str = "if then else elif do while until ! { ( }";
    let mut from = 0;
    while let Some(word) = words.get(from) {
        let name = base(word);
        let second = words.get(from + 1).map(String::as_str).unwrap_or_default();
        let skip_options = |mut at: usize, valued: &[&str]| {
            while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
                at += if valued.contains(&option.as_str()) { 2 } else { 1 };
            }
            at
        };
        if is_assignment(word) || one_of(CONTROL, word) {
            from += 1;
        } else if let Some((wrapper, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            from = skip_options(from + 1, valued);
            // `timeout 400 cargo test`
            from += usize::from(*wrapper == "timeout");
        } else if RUNNERS.contains(&(name.as_str(), second)) {
            from =
                skip_options(from + 2, &["--with", "--extra", "--group", "--package", "-p", "--python", "--directory"]);
        } else {
            break;
        }
    }
    words.drain(..from.min(words.len()));
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The name of a program without its directory and ending.
fn base(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let bare = [".exe", ".cmd", ".bat"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    bare.to_ascii_lowercase()
}

fn program(words: &[String]) -> String {
    words.first().map(|word| base(word)).unwrap_or_default()
}

/// The work that one simple command is.
fn kind(words: &[String]) -> Work {
    let name = program(words);
    let all: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    if all.iter().take_while(|word| **word != "--").any(|word| ["--help", "--version"].contains(word)) {
        return Work::Other;
    }
    let plain = arguments(&name, &all);
    let first = plain.first().copied().unwrap_or_default();
    let flag = |wanted: &str| all.contains(&wanted);
    match name.as_str() {
        "python" | "python2" | "python3" | "py" | "pypy3" => return python(&all),
        "cargo" if flag("--no-run") => return Work::Build,
        "npm" | "pnpm" | "yarn" | "bun" => return node(&name, &plain),
        "make" | "gmake" | "ninja" | "just" | "task" | "rake" | "invoke" | "mage" | "tox" | "nox" => {
            return targets(&name, &all, &plain);
        }
        "mvn" | "mvnw" => {
            return maven(&plain, flag("-DskipTests") || all.iter().any(|word| word.starts_with("-DskipTests=t")));
        }
        "gradle" | "gradlew" => return gradle(&all),
        "tsc" if flag("--noEmit") => return Work::Lint,
        "node" if flag("--test") => return Work::Test,
        "php" if first.ends_with("artisan") => {
            return by(plain.get(1).copied().unwrap_or_default(), &[("test", Work::Test)]);
        }
        "deno" if first == "task" => return script_name(plain.get(1).copied().unwrap_or_default()),
        "gh" => return if plain.starts_with(&["release", "create"]) { Work::Deploy } else { Work::Other },
        "uv" if first == "pip" => return Work::Install,
        "docker" | "podman" | "docker-compose" => {
            let sub =
                plain.iter().find(|word| !["compose", "buildx", "image"].contains(word)).copied().unwrap_or_default();
            return by(sub, &[("build", Work::Build), ("bake", Work::Build), ("push", Work::Deploy)]);
        }
        "gcloud" | "aws" | "az" | "cap" => return if plain.contains(&"deploy") { Work::Deploy } else { Work::Other },
        "bash" | "sh" | "zsh" => return executed(first),
        "turbo" | "nx" | "lerna" => {
            let sub =
                plain.iter().find(|word| !["run", "run-many", "affected"].contains(word)).copied().unwrap_or_default();
            return script_name(sub.rsplit(':').find(|part| script_name(part) != Work::Other).unwrap_or(sub));
        }
        _ => {}
    }
    if name == "git" {
        return known(&name, first).unwrap_or(Work::Git);
    }
    known(&name, first).unwrap_or_else(|| executed(words.first().map(String::as_str).unwrap_or_default()))
}

fn by(word: &str, table: &[(&str, Work)]) -> Work {
    table.iter().find(|(known, _)| *known == word).map_or(Work::Other, |(_, work)| *work)
}

/// Programs that do one kind of work.
const PROGRAMS: [(&str, Work); 4] = [
    (
        "pytest py.test jest vitest mocha ava rspec phpunit pest paratest ctest nosetests nose2 unittest gotestsum \
        bats cargo-nextest karma jasmine minitest busted pytest-3",
        Work::Test,
    ),
    (
        "tsc webpack rollup esbuild gcc g++ clang clang++ cc c++ rustc javac kotlinc msbuild cmake meson ant swc parcel",
        Work::Build,
    ),
    (
        "eslint prettier stylelint oxlint biome ruff mypy black isort flake8 pylint pyright shellcheck yamllint \
        markdownlint hadolint clang-format clang-tidy rustfmt gofmt golangci-lint staticcheck ktlint swiftlint tflint \
        rubocop pre-commit vue-tsc actionlint",
        Work::Lint,
    ),
    ("ansible-playbook", Work::Deploy),
];

/// Programs whose first argument says what they do.
const SUBCOMMANDS: [(&str, Work, &str); 40] = [
    ("cargo", Work::Test, "test t nextest llvm-cov tarpaulin miri"),
    ("cargo", Work::Build, "build b check c doc"),
    ("cargo", Work::Lint, "clippy fmt deny"),
    ("cargo", Work::Install, "install add fetch"),
    ("cargo", Work::Deploy, "publish"),
    ("go", Work::Test, "test"),
    ("go", Work::Build, "build"),
    ("go", Work::Lint, "vet fmt"),
    ("go", Work::Install, "install get mod"),
    ("deno", Work::Test, "test"),
    ("deno", Work::Lint, "lint fmt check"),
    ("deno", Work::Install, "install"),
    (TOOLCHAINS, Work::Test, "test spec"),
    (TOOLCHAINS, Work::Build, "build compile"),
    (TOOLCHAINS, Work::Lint, "analyze format fmt credo"),
    (TOOLCHAINS, Work::Install, "restore pub deps.get"),
    (TOOLCHAINS, Work::Deploy, "publish"),
    (SITES, Work::Test, "test test:unit"),
    (SITES, Work::Build, "build"),
    (SITES, Work::Lint, "lint check"),
    ("playwright rails", Work::Test, "test spec"),
    ("cypress", Work::Test, "run"),
    ("composer", Work::Test, "test"),
    ("composer", Work::Install, "install require update"),
    (INSTALLERS, Work::Install, "install add sync"),
    ("poetry uv pdm gem", Work::Build, "build"),
    ("poetry uv pdm", Work::Deploy, "publish"),
    ("gem", Work::Deploy, "push"),
    ("kubectl oc", Work::Deploy, "apply rollout"),
    ("helm", Work::Deploy, "install upgrade"),
    ("helm", Work::Lint, "lint"),
    ("terraform tofu terragrunt", Work::Deploy, "apply"),
    ("terraform tofu terragrunt", Work::Lint, "validate fmt"),
    ("pulumi railway", Work::Deploy, "up"),
    ("vercel netlify fly flyctl wrangler", Work::Deploy, "deploy publish --prod"),
    ("serverless sls cdk firebase eb", Work::Deploy, "deploy"),
    ("skaffold", Work::Deploy, "run"),
    ("twine", Work::Deploy, "upload"),
    ("git", Work::Commit, "commit"),
    ("git", Work::Push, "push"),
];

const TOOLCHAINS: &str = "dotnet swift flutter dart mix sbt lein stack cabal bazel xcodebuild zig forge gleam crystal";

const SITES: &str = "ng react-scripts next vite nuxt astro vue-cli-service expo";

const INSTALLERS: &str = "pip pip3 pipx brew apt apt-get dnf yum apk gem conda mamba bundle poetry pipenv uv pdm choco";

/// What the tables say of a program and its first argument.
fn known(name: &str, first: &str) -> Option<Work> {
    let program = PROGRAMS.iter().find(|(names, _)| one_of(names, name)).map(|(_, work)| *work);
    let sub = || SUBCOMMANDS.iter().find(|(names, _, subs)| one_of(names, name) && one_of(subs, first));
    program.or_else(|| sub().map(|(_, work, _)| *work))
}

/// The arguments that are no options, and no values of options.
fn arguments<'a>(program: &str, all: &[&'a str]) -> Vec<&'a str> {
    let valued: &[&str] = match program {
        "git" => &["-C", "-c", "--git-dir", "--work-tree"],
        "cargo" => &["--manifest-path", "-Z", "--config", "-C", "--color"],
        "npm" | "pnpm" | "yarn" | "bun" => &["--prefix", "-w", "--workspace", "-C", "--dir", "--filter", "-F", "--cwd"],
        "make" | "gmake" | "ninja" | "just" | "task" => &["-C", "-f", "-j", "--directory", "--file", "--justfile"],
        "mvn" | "mvnw" => &["-pl", "-f", "-P", "--projects", "--file"],
        "go" => &["-C"],
        "kubectl" | "helm" | "oc" => &["-n", "--namespace", "--context"],
        "docker" | "docker-compose" | "podman" => &["-f", "--file", "-p"],
        "turbo" | "nx" | "lerna" => &["--filter", "-t", "--target", "--scope"],
        "xcodebuild" => &["-scheme", "-project", "-workspace", "-destination", "-configuration", "-sdk"],
        _ => &[],
    };
    let mut found = Vec::new();
    let mut words = all.iter().enumerate();
    while let Some((at, word)) = words.next() {
        // `make -j 4 test`, but `make -j test`
        let number = |word: Option<&&str>| word.is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if valued.contains(word) && (*word != "-j" || number(all.get(at + 1))) {
            words.next();
        } else if *word == "--prod" || !(word.starts_with('-') || program == "cargo" && word.starts_with('+')) {
            found.push(*word);
        }
    }
    found
}

fn python(all: &[&str]) -> Work {
    let mut at = 0;
    while let Some(option) = all.get(at).filter(|word| word.starts_with('-') && !["-m", "-c"].contains(word)) {
        at += if ["-W", "-X"].contains(option) { 2 } else { 1 };
    }
    match all.get(at..).unwrap_or_default() {
        ["-m", "build", ..] => Work::Build,
        ["-m", "tox" | "nox", ..] => Work::Test,
        ["-m", module, rest @ ..] => known(module, rest.first().copied().unwrap_or_default()).unwrap_or(Work::Other),
        ["-c", ..] => Work::Other,
        [file, sub, ..] if base(file) == "manage.py" => by(sub, &[("test", Work::Test)]),
        [file, sub, ..] if base(file) == "setup.py" => {
            by(sub, &[("test", Work::Test), ("build", Work::Build), ("install", Work::Install)])
        }
        [file, ..] => {
            let name = base(file);
            let test = name.ends_with(".py") && name.starts_with("test_") || name.ends_with("_test.py");
            if test { Work::Test } else { executed(file) }
        }
        [] => Work::Other,
    }
}

fn node(program: &str, plain: &[&str]) -> Work {
    let second = plain.get(1).copied().unwrap_or_default();
    match plain.first().copied().unwrap_or_default() {
        "test" | "t" | "tst" => Work::Test,
        "workspace" => script_name(plain.get(2).copied().unwrap_or_default()),
        "run" | "run-script" => script_name(second),
        "install" | "i" | "ci" | "add" => Work::Install,
        "" if program == "yarn" => Work::Install,
        "publish" => Work::Deploy,
        "build" if program == "bun" => Work::Build,
        // Only these two run a script, or a program of the project, by its bare name.
        name if program == "yarn" || program == "pnpm" => known(name, second).unwrap_or_else(|| script_name(name)),
        _ => Work::Other,
    }
}

fn targets(program: &str, all: &[&str], plain: &[&str]) -> Work {
    let meant: Vec<&str> = plain.iter().copied().filter(|word| !is_assignment(word)).collect();
    match program {
        "tox" | "nox" => {
            let chosen = all.iter().position(|word| ["-e", "-s"].contains(word)).and_then(|at| all.get(at + 1));
            match chosen.map_or(Work::Test, |name| script_name(name)) {
                Work::Other => Work::Test,
                work => work,
            }
        }
        "make" | "gmake" | "ninja" if meant.is_empty() => Work::Build,
        "make" | "gmake" if meant.contains(&"check") => Work::Test,
        _ => meant.into_iter().map(script_name).min().unwrap_or(Work::Other),
    }
}

fn maven(goals: &[&str], untested: bool) -> Work {
    let goal = |goal: &&str| match *goal {
        "test" | "verify" | "integration-test" if !untested => Work::Test,
        "test" | "verify" | "integration-test" | "compile" | "package" | "install" | "test-compile" => Work::Build,
        "deploy" => Work::Deploy,
        goal if goal.starts_with("surefire:test") => Work::Test,
        goal if goal.starts_with("checkstyle") || goal.starts_with("spotless") || goal.starts_with("spotbugs") => {
            Work::Lint
        }
        _ => Work::Other,
    };
    goals.iter().map(goal).min().unwrap_or(Work::Other)
}

fn gradle(all: &[&str]) -> Work {
    let mut found = Work::Other;
    let mut words = all.iter();
    while let Some(word) = words.next() {
        if ["-x", "--exclude-task", "--tests", "-p", "-b"].contains(word) {
            words.next();
            continue;
        }
        let task = word.rsplit(':').next().unwrap_or(word);
        let starts = |names: &[&str]| names.iter().any(|name| task.starts_with(name));
        let work = match task {
            _ if word.starts_with('-') => Work::Other,
            "check" | "test" | "allTests" => Work::Test,
            _ if starts(&["compile", "assemble", "build", "bundle", "jar"]) => Work::Build,
            _ if starts(&["test", "connected"]) || task.ends_with("Test") => Work::Test,
            _ if starts(&["lint", "spotless", "ktlint", "detekt", "checkstyle"]) => Work::Lint,
            _ if starts(&["publish", "deploy"]) => Work::Deploy,
            _ => Work::Other,
        };
        found = found.min(work);
    }
    found
}

/// A script that is run by its path.
fn executed(path: &str) -> Work {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let ours = ["./", "bin/", "script/", "scripts/", "tools/", "dev/", "ci/"].iter().any(|dir| path.starts_with(dir));
    match end {
        "sh" | "bash" | "ps1" | "bat" | "cmd" => script_name(stem),
        "" if ours => script_name(stem),
        "py" | "js" | "mjs" | "ts" | "rb" if ours && stem != "test" => script_name(stem),
        _ => Work::Other,
    }
}

/// What the name of a script or a target says: `test:unit`, `run_tests`, `lint-fix`.
fn script_name(name: &str) -> Work {
    const WHICH: &str = "run unit integration e2e ci all local quick full";
    let mut words = name.split([':', '-', '_', '.', '/']).skip_while(|word| one_of(WHICH, word)).take(1);
    match words.next().unwrap_or_default() {
        "test" | "tests" | "spec" | "specs" | "pytest" | "jest" | "vitest" | "unittest" => Work::Test,
        "" if name.split([':', '-', '_', '.', '/']).any(|word| ["unit", "integration", "e2e"].contains(&word)) => {
            Work::Test
        }
        "build" | "compile" | "bundle" => Work::Build,
        "lint" | "eslint" | "format" | "fmt" | "typecheck" | "prettier" | "check" | "types" | "tsc" | "clippy" => {
            Work::Lint
        }
        "type" if name.ends_with("check") => Work::Lint,
        "deploy" | "release" | "publish" => Work::Deploy,
        "install" | "setup" | "bootstrap" => Work::Install,
        _ => Work::Other,
    }
}

// ---- The shell

/// Reads a shell line into simple commands. Quoted text is one word, substitutions stay as they are written, and
/// redirections and comments are left out; a here-document is the last word of its command.
struct Shell<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The ends of the here-documents whose texts begin at the next line.
    documents: Vec<(&'a str, usize)>,
}

impl<'a> Shell<'a> {
    fn new(text: &'a str) -> Shell<'a> {
        Shell { text, at: 0, commands: Vec::new(), words: Vec::new(), word: None, documents: Vec::new() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn put(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn commands(mut self) -> Vec<Vec<String>> {
        while let Some(char) = self.rest().chars().next() {
            let from = self.at;
            self.at += char.len_utf8();
            match char {
                '\'' => {
                    let end = self.rest().find('\'').unwrap_or(self.rest().len());
                    let (quoted, next) = (&self.rest()[..end], (self.at + end + 1).min(self.text.len()));
                    self.put(quoted);
                    self.at = next;
                }
                '"' => self.quoted(),
                '\\' => self.escaped(),
                '$' if self.rest().starts_with('(') => {
                    self.at = substitution_end(self.text, self.at + 1);
                    self.put(&self.text[from..self.at]);
                }
                '\n' => self.end_line(),
                '&' if self.rest().starts_with('>') => self.redirection(),
                ';' | '|' | '&' | '(' | ')' => self.end_command(),
                '#' if self.word.is_none() => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '<' | '>' => self.redirection(),
                char if char.is_whitespace() => self.end_word(),
                _ => self.put(&self.text[from..self.at]),
            }
        }
        self.end_command();
        self.commands
    }

    /// The text up to the closing quotation mark.
    fn quoted(&mut self) {
        self.put("");
        while let Some(char) = self.rest().chars().next() {
            let from = self.at;
            self.at += char.len_utf8();
            match char {
                '"' => return,
                '\\' if self.rest().starts_with(['"', '\\', '$', '`', '\n']) => self.escaped(),
                '$' if self.rest().starts_with('(') => {
                    self.at = substitution_end(self.text, self.at + 1);
                    self.put(&self.text[from..self.at]);
                }
                _ => self.put(&self.text[from..self.at]),
            }
        }
    }

    fn escaped(&mut self) {
        let Some(char) = self.rest().chars().next() else { return };
        let from = self.at;
        self.at += char.len_utf8();
        if char != '\n' {
            self.put(&self.text[from..self.at]);
        }
    }

    /// Skips `2>&1`, `> file`; notes the end of a here-document.
    fn redirection(&mut self) {
        // The number of the stream is no word.
        if self.word.as_ref().is_some_and(|word| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let document = self.text[self.at - 1..].strip_prefix("<<").filter(|rest| !rest.starts_with('<'));
        if let Some((mark, length)) = document.and_then(here_mark) {
            self.at += 1 + length;
            self.documents.push((mark, self.commands.len()));
            return;
        }
        let blank = |rest: &str| rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.at += self.rest().len() - self.rest().trim_start_matches(['<', '>', '&', '|']).len();
        self.at += blank(self.rest());
        let target = self.rest();
        let quote = target.chars().next().filter(|char| matches!(char, '"' | '\''));
        self.at += match quote {
            Some(quote) => target[1..].find(quote).map_or(target.len(), |end| end + 2),
            None => target.find(|char: char| char.is_whitespace() || ";|&()<>".contains(char)).unwrap_or(target.len()),
        };
    }

    fn end_line(&mut self) {
        self.end_command();
        for (mark, command) in std::mem::take(&mut self.documents) {
            let end = document_end(self.text, self.at, mark);
            let body = self.text[self.at..end].trim_end();
            let body = body.strip_suffix(mark).unwrap_or(body);
            if let Some(words) = self.commands.get_mut(command) {
                words.push(body.to_owned());
            }
            self.at = end;
        }
    }
}

/// The mark that ends a here-document, from what follows `<<`, and how much of that names it.
fn here_mark(text: &str) -> Option<(&str, usize)> {
    let bare = text.trim_start_matches(['-', '~']).trim_start_matches(' ').trim_start_matches(['\'', '"', '\\']);
    let end = bare.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(bare.len());
    let closing = usize::from(bare[end..].starts_with(['\'', '"']));
    (end > 0).then(|| (&bare[..end], text.len() - bare.len() + end + closing))
}

/// Where a here-document ends, its mark included; at the end of the text if it has none.
fn document_end(text: &str, from: usize, mark: &str) -> usize {
    let mut at = from;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
        if text[at..end].trim() == mark {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

/// Where the `)` ends that closes a substitution whose text begins at a place.
fn substitution_end(text: &str, from: usize) -> usize {
    /// What is open within each other.
    #[derive(PartialEq)]
    enum In {
        Brackets,
        Quotes,
    }
    let mut open = vec![In::Brackets];
    let mut document: Option<&str> = None;
    let bytes = text.as_bytes();
    let mut at = from;
    // Only ASCII is looked at, so that all steps lead to where a character begins or are made over whole ones.
    while at < bytes.len() {
        let quoted = open.last() == Some(&In::Quotes);
        match bytes[at] {
            b'\\' => at += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            b'\'' if !quoted => {
                at = memchr::memchr(b'\'', &bytes[at + 1..]).map_or(bytes.len() - 1, |length| at + 1 + length)
            }
            b'"' if quoted => {
                open.pop();
            }
            b'"' => open.push(In::Quotes),
            b'(' if !quoted || bytes[at - 1] == b'$' => open.push(In::Brackets),
            b')' if !quoted => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            b'<' if !quoted && text[at..].starts_with("<<") && !text[at..].starts_with("<<<") => {
                if let Some((mark, length)) = here_mark(&text[at + 2..]) {
                    document = Some(mark);
                    at += 1 + length;
                }
            }
            b'\n' => {
                if let Some(mark) = document.take() {
                    at = document_end(text, at + 1, mark).saturating_sub(1).max(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITIONS: [(&str, &str, &[&str]); 24] = [
        (
            "a.rs",
            "impl X {\n    pub(crate) async fn run(&self) {}\n    fn run2<T>() {}\n}\nfn run() {}",
            &["run", "run2"],
        ),
        ("a.rs", "// fn no\nlet x = \"fn no\";\npub const fn one() {}\nextern \"C\" fn two() {}", &["one", "two"]),
        (
            "a.py",
            "async def load(x):\nclass Store(Base):\n    def __init__(self):\n    def get(self):",
            &["load", "Store", "get"],
        ),
        ("a.py", "# the class of things\nclass of things\ndefault = 1", &[]),
        ("a.ts", "export default async function main() {\nfunction* gen() {}", &["main", "gen"]),
        ("a.tsx", "export const App: FC<Props> = ({ a }) => {", &["App"]),
        (
            "a.js",
            "const add = (a, b) => a + b\nlet inc = x => x + 1\nvar f = async () => {\nconst g = function () {}",
            &["add", "inc", "f", "g"],
        ),
        (
            "a.js",
            "const list = items.map((x) => x)\nconst n = (a + b) * 2\nconst s = 'a => b'\nconst t = (a).then(x => x)",
            &[],
        ),
        ("a.ts", "const save = async (\n  id: string,\n): Promise<void> => {\nconst sum = (\n  a + b\n)", &["save"]),
        (
            "a.ts",
            "class Api extends Base {\n  constructor(a) {\n  private async load(id: string): Promise<X> {\n  if (x) {\n  get(x);",
            &["Api", "load"],
        ),
        ("a.ts", "const id = <T>(x: T) => x\nconst h: (a: A) => B = (a) => b", &["id", "h"]),
        (
            "a.go",
            "func main() {\nfunc (s *Store) Get(id int) error {\nfunc Map[T any](x T) {\n// func no()",
            &["main", "Get", "Map"],
        ),
        (
            "A.java",
            "public class Foo extends Bar {\n  private static int total(List<X> a) {\n  return foo(a);\n  public int x = f(1);",
            &["Foo", "total"],
        ),
        (
            "A.cs",
            "public sealed class Foo : Bar\n{\n  public async Task<int> Run(int a)\n  {\n  protected int Two() => 2;",
            &["Foo", "Run", "Two"],
        ),
        (
            "a.c",
            "static int total(int a) {\n  if (a) {\nint main(void)\n{\nint proto(int);\nreturn f(x);\n#define X(a) {",
            &["total", "main"],
        ),
        (
            "a.cpp",
            "void Foo::bar(int a) const {\nclass Foo : public Bar {\nchar *name(int a) {\nwhile (x) {",
            &["Foo::bar", "Foo", "name"],
        ),
        ("a.rb", "class Foo < Bar\n  def self.make(a)\n  def valid?\n  end", &["Foo", "make", "valid"]),
        ("a.php", "final class Foo {\n  public static function make($a) {", &["Foo", "make"]),
        ("a.sh", "build() {\nfunction deploy_all {\necho hi\nfoo bar()\nif (x); then", &["build", "deploy_all"]),
        (
            "a.kt",
            "suspend fun load(id: Int) {\nfun <T> List<T>.second(): T {\ndata class User(val a: Int)",
            &["load", "second", "User"],
        ),
        ("a.swift", "public func load(id: Int) {\nfinal class User: Codable {", &["load", "User"]),
        ("a.md", "fn no() {}", &[]),
        ("Makefile", "fn no() {}", &[]),
        ("été.py", "def été(ß): pass", &["été"]),
    ];

    #[test]
    fn finds_definitions() {
        for (path, text, names) in DEFINITIONS {
            assert_eq!(functions(path, text), names, "{path}: {text}");
        }
    }

    #[test]
    fn sums_up_changes() {
        let cases = [
            ("a.rs", "a\nb", "", "new, 2 lines"),
            ("a.rs", "fn a() {}", "", "new, 1 line"),
            ("a.rs", "fn total() {\n  1\n  2\n}", "fn total() {\n  3\n}", "total(): +2 -1"),
            ("a.rs", "x\nfn b() {\n", "x\ny\nz", "b(): +1 -2"),
            ("a.rs", "", "fn gone() {}\n", "gone(): +0 -1"),
            ("a.py", "class A:\n  x = 1", "class A:\n  x = 2", "A: +1 -1"),
            ("a.txt", "a\nb", "a", "+1 -0"),
            ("a.txt", "a\na\na", "a\na", "+1 -0"),
            ("a.txt", "", "", "+0 -0"),
        ];
        for (path, added, removed, said) in cases {
            assert_eq!(
                summary(path, added, removed, removed.is_empty() && !added.is_empty()),
                said,
                "{added:?} {removed:?}"
            );
        }
    }

    const WORKS: [(&str, Work); 110] = [
        ("cargo test", Work::Test),
        ("cargo +nightly test --workspace", Work::Test),
        ("cargo nextest run", Work::Test),
        ("npm test", Work::Test),
        ("npm t", Work::Test),
        ("npm run test:unit", Work::Test),
        ("npm --prefix web run test", Work::Test),
        ("pnpm --filter api test", Work::Test),
        ("yarn test --watch=false", Work::Test),
        ("yarn jest src", Work::Test),
        ("yarn workspace api test", Work::Test),
        ("pytest -q", Work::Test),
        ("python -m pytest", Work::Test),
        ("python3 -W error -m unittest discover", Work::Test),
        ("python manage.py test app", Work::Test),
        ("python test_store.py", Work::Test),
        (".venv/bin/pytest tests/", Work::Test),
        ("uv run pytest", Work::Test),
        ("poetry run pytest -x", Work::Test),
        ("go test ./...", Work::Test),
        ("make test", Work::Test),
        ("make -j 4 check", Work::Test),
        ("make -j4 -C sub test V=1", Work::Test),
        ("just test", Work::Test),
        ("mvn test", Work::Test),
        ("mvn -q clean verify", Work::Test),
        ("./gradlew test", Work::Test),
        ("./gradlew :app:testDebugUnitTest --tests Foo", Work::Test),
        ("jest", Work::Test),
        ("npx jest --ci", Work::Test),
        ("npx -y vitest run", Work::Test),
        ("vitest run", Work::Test),
        ("node_modules/.bin/mocha", Work::Test),
        ("node --test", Work::Test),
        ("rspec", Work::Test),
        ("bundle exec rspec", Work::Test),
        ("bin/rails test", Work::Test),
        ("vendor/bin/phpunit", Work::Test),
        ("phpunit", Work::Test),
        ("php artisan test", Work::Test),
        ("ctest --output-on-failure", Work::Test),
        ("tox", Work::Test),
        ("tox -e py311", Work::Test),
        ("bun test", Work::Test),
        ("deno test -A", Work::Test),
        ("deno task test", Work::Test),
        ("dotnet test", Work::Test),
        ("swift test", Work::Test),
        ("mix test", Work::Test),
        ("bazel test //...", Work::Test),
        ("playwright test", Work::Test),
        ("turbo run test", Work::Test),
        ("./run_tests.sh", Work::Test),
        ("bash scripts/test.sh", Work::Test),
        ("./scripts/e2e.sh", Work::Test),
        ("cd /x && cargo test 2>&1 | tail -5", Work::Test),
        ("cd /x; RUST_BACKTRACE=1 timeout 400 cargo test -- --nocapture", Work::Test),
        ("env A=b C=d sudo -u me time pytest", Work::Test),
        ("bash -lc \"cd x && npm test\"", Work::Test),
        ("bash -c 'sh -c \"go test\"'", Work::Test),
        ("(cd web && npm test)", Work::Test),
        ("if true; then make test; fi", Work::Test),
        ("cargo fmt && cargo clippy && cargo test", Work::Test),
        ("cargo build\ncargo test", Work::Test),
        ("git checkout latest", Work::Git),
        ("cat contest.txt", Work::Other),
        ("echo test", Work::Other),
        ("echo \"cargo test\"", Work::Other),
        ("grep -rn test src | head", Work::Other),
        ("ls tests; cat tests/a.rs", Work::Other),
        ("git log --grep test", Work::Git),
        ("test -f x && echo yes", Work::Other),
        ("/usr/bin/test -f x", Work::Other),
        ("mkdir test", Work::Other),
        ("cargo test --help", Work::Other),
        ("pytest --version", Work::Other),
        ("npm run start:test", Work::Other),
        ("cat > a.sh <<'EOF'\ncargo test\nEOF", Work::Other),
        ("python - <<EOF\nimport pytest\nEOF", Work::Other),
        ("python -c 'import pytest'", Work::Other),
        ("# cargo test", Work::Other),
        ("./gradlew build -x test", Work::Build),
        ("mvn verify -DskipTests", Work::Build),
        ("cargo test --no-run", Work::Build),
        ("cargo build --release", Work::Build),
        ("npm run build", Work::Build),
        ("make", Work::Build),
        ("cmake --build build", Work::Build),
        ("docker compose build", Work::Build),
        ("npx tsc", Work::Build),
        ("npx tsc --noEmit", Work::Lint),
        ("cargo clippy --all-targets -- -D warnings", Work::Lint),
        ("npm run lint", Work::Lint),
        ("npm run type-check", Work::Lint),
        ("ruff check .", Work::Lint),
        ("python -m mypy src", Work::Lint),
        ("tox -e lint", Work::Lint),
        ("git commit -m 'run cargo test'", Work::Commit),
        ("git -C /x -c a=b commit -am x", Work::Commit),
        ("git push origin main", Work::Push),
        ("git add . && git commit -m x && git push", Work::Push),
        ("kubectl -n prod apply -f x.yml", Work::Deploy),
        ("vercel --prod", Work::Deploy),
        ("cargo publish", Work::Deploy),
        ("npm ci", Work::Install),
        ("pip install -r requirements.txt", Work::Install),
        ("python -m pip install pytest", Work::Install),
        ("sudo apt-get -y install jq", Work::Install),
        ("yarn", Work::Install),
        ("", Work::Other),
    ];

    #[test]
    fn judges_commands_by_program_and_arguments() {
        for (command, kind) in WORKS {
            assert_eq!(work(command), kind, "{command}");
        }
        assert_eq!(works("cargo test && git commit -m x && git push"), [Work::Test, Work::Commit, Work::Push]);
    }

    #[test]
    fn two_runs_of_a_command_are_equal() {
        let same = [
            ("cargo test", "  cargo   test  "),
            ("cargo test", "cd /x && cargo test"),
            ("cargo test", "cd /x && RUST_BACKTRACE=1 cargo test 2>&1 | tail -20"),
            ("cargo test", "bash -lc 'cargo test'"),
            ("cargo test", "timeout 100 cargo test; echo $?"),
            ("npm test", "env CI=1 npm test > out.txt"),
            ("npm test", "npm test &> \"my out.txt\""),
        ];
        for (one, other) in same {
            assert_eq!(normalised(one), normalised(other), "{one} | {other}");
        }
        let different = [
            ("cargo test", "cargo test a"),
            ("cargo build && cargo test", "cargo test"),
            ("python - <<EOF\n1\nEOF", "python - <<EOF\n2\nEOF"),
            ("cd a", "cd b"),
            ("echo a", "echo b"),
        ];
        for (one, other) in different {
            assert_ne!(normalised(one), normalised(other), "{one} | {other}");
        }
    }

    const COMMITS: [(&str, Option<&str>); 16] = [
        ("git commit -m \"Fix the \\\"parser\\\"\"", Some("Fix the \"parser\"")),
        ("git add -A && git commit -am 'One\n\nTwo'", Some("One")),
        ("git commit --message=Three", Some("Three")),
        ("git commit --message \"Four\" -m body", Some("Four")),
        ("git commit -mFive", Some("Five")),
        ("git commit -s -m Six", Some("Six")),
        (
            "cd x && git -C y commit -m \"$(cat <<'EOF'\nDon't (break: \"it\"\n\nBody )\nEOF\n)\" && git push",
            Some("Don't (break: \"it\""),
        ),
        ("git commit -m \"$(cat <<EOF\n\n  Indented\nEOF\n)\"", Some("Indented")),
        ("git commit -F - <<'EOF'\nFrom a file\nEOF", Some("From a file")),
        ("git commit -q -F- <<EOF\nFrom here\nmore\nEOF\ngit push", Some("From here")),
        ("bash -lc \"git commit -m 'Ünïcode ✓'\"", Some("Ünïcode ✓")),
        ("git commit --amend --no-edit", None),
        ("git commit -m \"$MSG\"", None),
        ("git commit -m", None),
        ("git log -m commit", None),
        ("echo git commit -m x", None),
    ];

    #[test]
    fn reads_the_subject_of_a_commit() {
        for (command, wanted) in COMMITS {
            assert_eq!(commit_subject(command).as_deref(), wanted, "{command}");
        }
    }

    #[test]
    fn paths_are_as_short_as_they_can_be_told_apart() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["/p/src/a.rs", "/p/src/b.rs"], &["a.rs", "b.rs"]),
            (&["/p/hook/mod.rs", "/p/cmd/mod.rs", "/p/x.rs"], &["hook/mod.rs", "cmd/mod.rs", "x.rs"]),
            (&["mod.rs", "src/mod.rs"], &["mod.rs", "src/mod.rs"]),
            (&["a/x.rs", "a/x.rs"], &["x.rs", "x.rs"]),
            (&["C:\\p\\a\\x.cs", "C:\\p\\b\\x.cs"], &["a\\x.cs", "b\\x.cs"]),
            (&["", "/", "été/ß"], &["", "", "ß"]),
        ];
        for (paths, wanted) in cases {
            assert_eq!(short_paths(paths), wanted);
        }
    }

    #[test]
    fn no_prefix_of_anything_panics() {
        let texts = DEFINITIONS.iter().map(|(_, text, _)| *text);
        let texts = texts.chain(WORKS.iter().map(|(text, _)| *text)).chain(COMMITS.iter().map(|(text, _)| *text));
        let ends = ["rs", "py", "ts", "go", "cs", "cpp", "sh", "kt"];
        for text in texts {
            for part in text.char_indices().flat_map(|(at, _)| [&text[..at], &text[at..]]) {
                for odd in [format!("{part}é"), part.replace(' ', "\u{2003}ß") + "\\"] {
                    ends.iter().for_each(|end| drop(functions(&format!("a.{end}"), &odd)));
                    summary("a.rs", &odd, text, false);
                    work(&odd);
                    normalised(&odd);
                    commit_subject(&odd);
                    short_paths(&[&odd, text]);
                }
            }
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let started = std::time::Instant::now();
        for unit in [
            "'",
            "\"",
            "$(",
            "\"$(",
            "<<E\n",
            "((",
            "\\",
            "sh -c ",
            "python -m ",
            "a=b ",
            "const a = (",
            "/",
            "<",
            "func (",
            "a/",
        ] {
            let long = unit.repeat(100_000 / unit.len());
            work(&long);
            normalised(&long);
            commit_subject(&long);
            ["rs", "ts", "cs", "c", "sh", "go"].iter().for_each(|end| drop(functions(&format!("a.{end}"), &long)));
            summary("a.ts", &long, "x", false);
            short_paths(&[&long, "a"]);
        }
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
