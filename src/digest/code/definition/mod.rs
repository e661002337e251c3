//! The functions and classes that written text defines.
//!
//! A definition is told by how its line begins, in the language that the ending of the file's name says; nothing is
//! parsed, and a comment or a call that looks like one is none. A language that defines by words is a row of the table
//! below; one that does not has a file here.

mod braces;
mod go;
mod head;
mod keyword;
mod script;
mod shell;

use std::collections::HashSet;

use self::keyword::Keywords;
use crate::digest::lexicon::one_of;

/// A function or a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition<'a> {
    pub name: &'a str,
    pub function: bool,
}

impl<'a> Definition<'a> {
    fn function(name: &'a str) -> Option<Definition<'a>> {
        Some(Definition { name, function: true })
    }

    fn class(name: &'a str) -> Option<Definition<'a>> {
        Some(Definition { name, function: false })
    }
}

/// What a line defines, given those after it.
type Rule = for<'a> fn(&'a str, &[&str]) -> Option<Definition<'a>>;

/// How a language defines things.
enum Syntax {
    Words(Keywords),
    Own(Rule),
}

/// Languages by the endings of their files. Where words define: those that may come before, those that define a function,
/// those that define a class.
static LANGUAGES: [(&str, Syntax); 11] = [
    ("rs", words("pub pub(crate) pub(super) pub(self) const async unsafe default extern \"C\"", "fn", "")),
    ("py pyi pyw", words("async", "def", "class")),
    ("rb rake", words("private public protected", "def", "class module")),
    ("php", words("public private protected static final abstract readonly", "function", "class trait interface")),
    (
        "kt kts",
        words(
            "public private internal protected open override suspend inline abstract final data sealed operator infix \
             tailrec external actual expect enum",
            "fun",
            "class object interface",
        ),
    ),
    (
        "swift",
        words(
            "public private internal fileprivate open override static final mutating nonisolated @objc @MainActor \
             @discardableResult",
            "func",
            "class struct protocol actor",
        ),
    ),
    ("js jsx mjs cjs ts tsx mts cts vue svelte", Syntax::Own(script::definition)),
    ("go", Syntax::Own(go::definition)),
    ("java cs", Syntax::Own(braces::member)),
    ("c h cc cpp cxx hpp hh hxx", Syntax::Own(braces::at_margin)),
    ("sh bash zsh", Syntax::Own(shell::definition)),
];

const fn words(before: &'static str, functions: &'static str, classes: &'static str) -> Syntax {
    Syntax::Words(Keywords { before, functions, classes })
}

fn syntax(path: &str) -> Option<&'static Syntax> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    LANGUAGES.iter().find(|(endings, _)| one_of(endings, &ending)).map(|(_, syntax)| syntax)
}

/// The functions and classes that a text defines, each once, in their order.
pub fn functions(path: &str, added: &str) -> Vec<String> {
    let lines: Vec<&str> = added.lines().collect();
    let mut seen = HashSet::new();
    let found = definitions(path, &lines).into_iter().map(|(_, found)| found.name).filter(|name| seen.insert(*name));
    found.map(str::to_owned).collect()
}

/// The definitions in lines, each with the line that it is in.
pub fn definitions<'a>(path: &str, lines: &[&'a str]) -> Vec<(usize, Definition<'a>)> {
    /// No head of a function goes on for longer.
    const NEXT: usize = 12;
    let Some(syntax) = syntax(path) else { return Vec::new() };
    let found = lines.iter().enumerate().filter_map(|(at, line)| {
        let next = &lines[at + 1..lines.len().min(at + 1 + NEXT)];
        let definition = match syntax {
            Syntax::Words(keywords) => keywords.definition(line),
            Syntax::Own(rule) => rule(line, next),
        };
        Some((at, definition?))
    });
    found.collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const DEFINITIONS: [(&str, &str, &[&str]); 24] = [
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
}
