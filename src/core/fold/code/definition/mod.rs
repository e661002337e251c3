//! The functions and classes that written text defines.
//!
//! A definition is known by how its line begins, in the language that the file's ending names. Nothing is parsed, and a
//! comment or a call that looks like a definition is none. The words that define are a row in `fold/words.toml`; what takes more
//! than words is a function in `own`.

mod head;
mod own;

use self::head::{after_all, after_brackets, after_one, name};
use crate::fold::one_of;
use crate::fold::words::DEFINED_BY_WORDS;
use session_format::boundary::substr;
use session_format::hash::HashSet;
use session_format::path::base_name;

/// A function or a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition<'a> {
    pub name: &'a str,
    pub function: bool,
}

impl<'a> Definition<'a> {
    fn function(name: &'a str, is_one: bool) -> Option<Definition<'a>> {
        is_one.then_some(Definition {
            name,
            function: true,
        })
    }

    fn class(name: &'a str, is_one: bool) -> Option<Definition<'a>> {
        is_one.then_some(Definition {
            name,
            function: false,
        })
    }
}

/// What else a line defines, given what is left of it after the words that may come before, and the lines after it.
type OwnRule = for<'a> fn(&'a str, &'a str, &[&str]) -> Option<Definition<'a>>;

/// Languages that take more than words, by the endings of their files.
const OWN: [(&str, OwnRule); 4] = [
    ("js jsx mjs cjs ts tsx mts cts vue svelte", own::script),
    ("java cs", own::member),
    ("c h cc cpp cxx hpp hh hxx", own::at_margin),
    ("sh bash zsh", own::shell),
];

/// The functions and classes that a text defines, each once, in their order.
pub fn functions(path: &str, added: &str) -> Vec<String> {
    let lines: Vec<&str> = added.lines().collect();
    let mut known = HashSet::default();
    let found = definitions(path, &lines)
        .into_iter()
        .map(|(_, found)| found.name)
        .filter(|name| known.insert(*name));
    found.map(str::to_owned).collect()
}

/// The definitions in lines, each with the index of its line.
pub(crate) fn definitions<'a>(path: &str, lines: &[&'a str]) -> Vec<(usize, Definition<'a>)> {
    /// No head of a function goes on for longer.
    const NEXT: usize = 12;
    let ending = base_name(path)
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default();
    let (_, before, functions, classes) = DEFINED_BY_WORDS
        .iter()
        .find(|(endings, ..)| one_of(endings, &ending))
        .unwrap_or(&("", "", "", ""));
    let own = OWN.iter().find(|(endings, _)| one_of(endings, &ending));
    let found = lines.iter().enumerate().filter_map(|(index, line)| {
        let text = after_all(line, before);
        let definition = match (after_one(text, functions), after_one(text, classes)) {
            (Some(rest), _) => function(rest),
            (_, Some(rest)) => class(rest),
            _ => own?.1(
                line,
                text,
                &lines[index + 1..lines.len().min(index + 1 + NEXT)],
            ),
        };
        Some((index, definition?))
    });
    found.collect()
}

/// Type parameters and receivers in Kotlin and Go, Ruby's `self.` and PHP's reference are no part of a name.
fn function(rest: &str) -> Option<Definition<'_>> {
    let rest = if rest.starts_with('(') {
        after_brackets(rest)?.trim_start()
    } else {
        rest
    };
    let rest = rest
        .strip_prefix('<')
        .and_then(|rest| Some(rest.split_once('>')?.1.trim_start()))
        .unwrap_or(rest);
    let head = rest
        .split(['(', ' ', ';', '{', ':', '='])
        .next()
        .unwrap_or_default();
    let own = head
        .rsplit('.')
        .next()
        .unwrap_or(head)
        .trim_start_matches(['&', '*']);
    let whole = name(own)?;
    let hidden = whole.starts_with("__") && whole.ends_with("__");
    Definition::function(whole, !hidden)
}

/// In prose, another word follows.
fn class(rest: &str) -> Option<Definition<'_>> {
    let whole = name(rest)?;
    let next = substr(rest, whole.len()..).trim_start();
    let prose = next.starts_with(char::is_alphabetic)
        && !["extends", "implements", "where"]
            .iter()
            .any(|word| next.starts_with(word));
    Definition::class(whole, !prose)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub(crate) const DEFINITIONS: [(&str, &str, &[&str]); 24] = [
        (
            "a.rs",
            "impl X {\n    pub(crate) async fn run(&self) {}\n    fn run2<T>() {}\n}\nfn run() {}",
            &["run", "run2"],
        ),
        (
            "a.rs",
            "// fn no\nlet x = \"fn no\";\npub const fn one() {}\nextern \"C\" fn two() {}",
            &["one", "two"],
        ),
        (
            "a.py",
            "async def load(x):\nclass Store(Base):\n    def __init__(self):\n    def get(self):",
            &["load", "Store", "get"],
        ),
        (
            "a.py",
            "# the class of things\nclass of things\ndefault = 1",
            &[],
        ),
        (
            "a.ts",
            "export default async function main() {\nfunction* gen() {}",
            &["main", "gen"],
        ),
        (
            "a.tsx",
            "export const App: FC<Props> = ({ a }) => {",
            &["App"],
        ),
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
        (
            "a.ts",
            "const save = async (\n  id: string,\n): Promise<void> => {\nconst sum = (\n  a + b\n)",
            &["save"],
        ),
        (
            "a.ts",
            "class Api extends Base {\n  constructor(a) {\n  private async load(id: string): Promise<X> {\n  if (x) {\n  get(x);",
            &["Api", "load"],
        ),
        (
            "a.ts",
            "const id = <T>(x: T) => x\nconst h: (a: A) => B = (a) => b",
            &["id", "h"],
        ),
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
        (
            "a.rb",
            "class Foo < Bar\n  def self.make(a)\n  def valid?\n  end",
            &["Foo", "make", "valid"],
        ),
        (
            "a.php",
            "final class Foo {\n  public static function make($a) {",
            &["Foo", "make"],
        ),
        (
            "a.sh",
            "build() {\nfunction deploy_all {\necho hi\nfoo bar()\nif (x); then",
            &["build", "deploy_all"],
        ),
        (
            "a.kt",
            "suspend fun load(id: Int) {\nfun <T> List<T>.second(): T {\ndata class User(val a: Int)",
            &["load", "second", "User"],
        ),
        (
            "a.swift",
            "public func load(id: Int) {\nfinal class User: Codable {",
            &["load", "User"],
        ),
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
}
