//! Which programming language a file is in, by its name.

use super::one_of;
use crate::path::base_name;

/// Endings and whole names, and what they are. Not everything that is edited is code, but all of it is work.
#[rustfmt::skip]
const LANGUAGES: [(&str, &str); 41] = [
    ("Rust", "rs"), ("Python", "py pyi pyw ipynb"), ("TypeScript", "ts tsx mts cts"),
    ("JavaScript", "js jsx mjs cjs"), ("Go", "go"), ("Java", "java"), ("Kotlin", "kt kts"), ("Swift", "swift"),
    ("C", "c h"), ("C++", "cc cpp cxx hh hpp hxx"), ("C#", "cs"), ("F#", "fs fsx"),
    ("Ruby", "rb rake gemfile rakefile"), ("PHP", "php"), ("Perl", "pl pm"), ("Lua", "lua"), ("Elixir", "ex exs"),
    ("Erlang", "erl hrl"), ("Haskell", "hs"), ("OCaml", "ml mli"), ("Scala", "scala sbt"),
    ("Clojure", "clj cljs cljc edn"), ("Dart", "dart"), ("Zig", "zig"), ("Julia", "jl"), ("R", "r rmd"),
    ("SQL", "sql"), ("Shell", "sh bash zsh fish"), ("PowerShell", "ps1"), ("HTML", "html htm"),
    ("CSS", "css scss sass less"), ("Vue", "vue"), ("Svelte", "svelte"), ("Nix", "nix"), ("Terraform", "tf tfvars"),
    ("Protobuf", "proto"), ("Dockerfile", "dockerfile containerfile"), ("Make", "makefile mk cmake"),
    ("Markdown", "md mdx"), ("YAML", "yaml yml"), ("TOML", "toml"),
];

/// The language of a file, if its name tells.
pub fn language(path: &str) -> Option<&'static str> {
    let name = base_name(path).to_lowercase();
    let ending = name.rsplit('.').next()?;
    LANGUAGES.iter().find(|(_, endings)| one_of(endings, ending)).map(|(language, _)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_languages() {
        for (path, expected) in [
            ("src/main.rs", Some("Rust")),
            ("/a/b.test.TS", Some("TypeScript")),
            ("C:\\x\\y.Py", Some("Python")),
            ("Dockerfile", Some("Dockerfile")),
            ("deploy/Makefile", Some("Make")),
            ("README.md", Some("Markdown")),
            ("notes.txt", None),
            ("rs/LICENSE", None),
            (".bashrc", None),
            ("", None),
        ] {
            assert_eq!(language(path), expected, "{path}");
        }
    }
}
