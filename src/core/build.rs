//! Reads and compiles what is written as TOML, so that no program has to when it starts: the built-in descriptors, what is
//! known of secrets, and the tables of words.
//!
//! A mistake in `formats/*.toml` fails the build, with its line. The result is
//! `built_in.rs`, which `formats.rs` includes: for each format its name, a hash of its text, and its parts as bytes.
//! `secrets/table.rs` includes `secrets.rs`, the rows of `table.toml` as constants; `fold/mod.rs` likewise `words.rs`.

#![allow(
    clippy::disallowed_methods,
    reason = "those are rules for the programs"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use session_format::entry::Id;
use session_format::format::Format;
use session_format::format::descriptor::Descriptor;
use toml::{Table, Value};

const FORMATS: &str = "../../formats";
const SECRETS: &str = "secrets/table.toml";
const WORDS: &str = "fold/words.toml";

fn main() -> Result<(), Box<dyn Error>> {
    for used in [FORMATS, SECRETS, WORDS] {
        println!("cargo::rerun-if-changed={used}");
    }
    let mut files = std::fs::read_dir(FORMATS)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let built_in = files
        .iter()
        .map(|file| built_in(file).map_err(|error| format!("{}: {error}", file.display())));
    let list = built_in.collect::<Result<Vec<_>, _>>()?.join(",\n");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let out = Path::new(&out);
    generate(SECRETS, &out.join("secrets.rs"), secrets)?;
    generate(WORDS, &out.join("words.rs"), words)?;
    Ok(std::fs::write(
        out.join("built_in.rs"),
        format!("[{list}]"),
    )?)
}

/// Writes the code that a table stands for.
fn generate(
    file: &str,
    to: &Path,
    code: fn(&Table) -> Result<String, String>,
) -> Result<(), Box<dyn Error>> {
    let table = toml::from_str(&std::fs::read_to_string(file)?)
        .map_err(|error| format!("{file}: {error}"))?;
    Ok(std::fs::write(
        to,
        code(&table).map_err(|error| format!("{file}: {error}"))?,
    )?)
}

/// A descriptor as a Rust expression.
fn built_in(file: &Path) -> Result<String, Box<dyn Error>> {
    let name = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .ok_or("not a file name")?;
    let text = std::fs::read_to_string(file)?;
    let written: Descriptor = toml::from_str(&text)?;
    let [format, detailed] =
        [false, true].map(|detailed| Format::compile(name, &written, detailed));
    let (head, talk, live, install) = written.parts();
    let parts = [
        postcard::to_stdvec(&head)?,
        postcard::to_stdvec(&talk)?,
        postcard::to_stdvec(&format)?,
        postcard::to_stdvec(&detailed)?,
        postcard::to_stdvec(&live)?,
        postcard::to_stdvec(&install)?,
    ];
    let parts = parts
        .map(|part| format!("b\"{}\"", part.escape_ascii()))
        .join(", ");
    Ok(format!(
        "({name:?}, Id({}), [{parts}])",
        Id::of(text.as_bytes()).0
    ))
}

/// What is known of secrets as Rust constants. The types of the rows are in `src/secrets/table.rs`.
fn secrets(table: &Table) -> Result<String, String> {
    let section = |name: &str| table.get(name).ok_or(format!("[{name}] is missing"));
    let all = |name: &str, kind: &str, row: fn(&Value) -> Result<String, String>| {
        let rows = section(name)?
            .as_array()
            .ok_or(format!("{name} is not a list"))?;
        let rows = rows
            .iter()
            .map(|one| row(one).map(|row| format!("{kind} {{ {row} }},\n")));
        rows.collect::<Result<String, String>>()
            .map(|rows| format!("&[{kind}] = &[\n{rows}];\n"))
    };
    let mut code = [
        format!("pub const KINDS: {}", all("key", "KeyKind", key)?),
        format!("pub const NAMES: {}", all("name", "NameKind", name)?),
        format!(
            "pub const PROGRAMS: {}",
            all("program", "ProgramKind", program)?
        ),
        format!(
            "pub const OPERANDS: {}",
            all("operand", "OperandKind", operand)?
        ),
        format!(
            "pub const READERS: {}",
            all("reader", "ReaderKind", reader)?
        ),
    ]
    .concat();
    let calls = section("call")?
        .as_table()
        .into_iter()
        .flatten()
        .map(|(list, row)| (list, row.get("words")));
    let words = section("words")?
        .as_table()
        .into_iter()
        .flatten()
        .map(|(list, words)| (list, Some(words)));
    for (list, words) in calls.chain(words) {
        code += &match words {
            Some(Value::String(words)) => {
                let mut words: Vec<&str> = words.split_whitespace().collect();
                words.sort_by_key(|word| word.len());
                let (list, words) = (list.to_uppercase(), words.join(" "));
                format!("pub static {list}: Words = Words::new({words:?});\n")
            }
            Some(words) => constant(list, words)?,
            None => return Err(format!("{list} has no words")),
        };
    }
    Ok(code)
}

/// Texts, and tables of texts, as Rust constants.
fn words(table: &Table) -> Result<String, String> {
    table
        .iter()
        .map(|(name, value)| constant(name, value))
        .collect()
}

fn constant(name: &str, value: &Value) -> Result<String, String> {
    let list = name.to_uppercase();
    match value {
        Value::String(text) => Ok(format!("pub const {list}: &str = {text:?};\n")),
        Value::Array(rows) if rows.iter().all(Value::is_array) => {
            let rows = rows
                .iter()
                .filter_map(Value::as_array)
                .flat_map(|row| rows_of(row))
                .collect::<Vec<_>>();
            let types = vec!["&str"; rows.first().map_or(0, Vec::len)].join(", ");
            let rows: String = rows
                .iter()
                .map(|row| format!("({}),\n", row.join(", ")))
                .collect();
            Ok(format!("pub const {list}: &[({types})] = &[\n{rows}];\n"))
        }
        _ => Ok(format!(
            "pub const {list}: &[&str] = &{};\n",
            texts(Some(value)).map_err(|why| format!("{name}: {why}"))?
        )),
    }
}

/// A row of texts; if it ends with a table, a row for each of its keys.
fn rows_of(row: &[Value]) -> Vec<Vec<String>> {
    match row.split_last() {
        Some((Value::Table(last), first)) => {
            let row = |(key, value): (&String, &Value)| {
                first
                    .iter()
                    .cloned()
                    .chain([Value::String(key.clone()), value.clone()])
                    .map(literal)
                    .collect()
            };
            last.iter().map(row).collect()
        }
        _ => vec![row.iter().cloned().map(literal).collect()],
    }
}

fn key(row: &Value) -> Result<String, String> {
    let is = row.get("is").map_or(Ok(""), |_| text(row, "is"))?;
    let before = row
        .get("before")
        .map_or(Ok("word 0"), |_| text(row, "before"))?;
    let body = row
        .get("body")
        .and_then(Value::as_array)
        .ok_or(format!("no body in {row}"))?;
    let body: Vec<String> = body.iter().filter_map(Value::as_str).map(stretch).collect();
    let (prefixes, before, body) = (
        texts(row.get("prefixes"))?,
        stretch(before),
        body.join(", "),
    );
    let (shows_prefix, is_block) = (is == "shown", is == "block");
    Ok(format!(
        "prefixes: &{prefixes}, before: {before}, body: &[{body}], shows_prefix: {shows_prefix}, is_block: {is_block}"
    ))
}

fn name(row: &Value) -> Result<String, String> {
    Ok(format!(
        "names: &{}, sure: Sure::{}",
        texts(row.get("names"))?,
        text(row, "sure")?
    ))
}

fn program(row: &Value) -> Result<String, String> {
    let (programs, flags, form) = (
        text(row, "programs")?,
        text(row, "flags")?,
        text(row, "form")?,
    );
    let firsts = flags
        .split(' ')
        .filter_map(|flag| flag.bytes().find(|byte| !b"-/".contains(byte)));
    let firsts: BTreeSet<String> = firsts.map(|first| format!("1 << {first}")).collect();
    let letters = firsts.into_iter().collect::<Vec<_>>().join(" | ");
    Ok(format!(
        "programs: Words::new({programs:?}), flags: {flags:?}, letters: {letters}, form: Form::{form}"
    ))
}

fn operand(row: &Value) -> Result<String, String> {
    let [open, close, flag] =
        ["open", "close", "flag"].map(|key| text(row, key).unwrap_or_default());
    let number = row
        .get("number")
        .and_then(Value::as_integer)
        .ok_or(format!("no number in {row}"))?;
    let is_doubtful = row.get("is_doubtful").is_some();
    let (start, flag) = (text(row, "start")?, flag.bytes().next());
    Ok(format!(
        "start: {start:?}, flag: {flag:?}, number: {number}, open: {open:?}, close: {close:?}, is_doubtful: {is_doubtful}"
    ))
}

fn reader(row: &Value) -> Result<String, String> {
    Ok(format!(
        "programs: Words::new({:?}), mark: {:?}",
        text(row, "programs")?,
        text(row, "mark")?
    ))
}

fn text<'r>(row: &'r Value, key: &str) -> Result<&'r str, String> {
    row.get(key)
        .and_then(Value::as_str)
        .ok_or(format!("no {key} in {row}"))
}

fn texts(list: Option<&Value>) -> Result<String, String> {
    let list = list
        .and_then(Value::as_array)
        .ok_or("not a list of texts")?;
    let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    Ok(format!("{:?}", texts.ok_or("not a text")?))
}

/// `hex 32`, `word 16..24` or `word 40..`: an alphabet, and the least and most characters of it.
fn stretch(text: &str) -> String {
    let (alphabet, count) = text.split_once(' ').unwrap_or((text, "0"));
    let (least, most) = count.split_once("..").unwrap_or((count, count));
    format!(
        "(is_{alphabet}, {least}, {})",
        if most.is_empty() { "ANY" } else { most }
    )
}

fn literal(text: Value) -> String {
    format!("{:?}", text.as_str().unwrap_or_default())
}
