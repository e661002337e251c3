//! Reads and compiles the built-in descriptors, so that no program has to when it starts.
//!
//! It uses the same files as the library, so a mistake in `formats/*.toml` fails the build, with its line. The result is
//! `built_in.rs`, which `src/format/mod.rs` includes: for each format its name, a hash of its text, and its parts as bytes.

#![allow(clippy::disallowed_methods, reason = "those are rules for the programs")]
#![allow(
    dead_code,
    unused_imports,
    clippy::option_option,
    reason = "the library uses all of these files, and is public"
)]

use std::error::Error;
use std::path::Path;

#[path = "src/boundary.rs"]
mod boundary;
#[path = "src/entry.rs"]
mod entry;
#[path = "src/format"]
mod format {
    pub mod compile;
    pub mod descriptor;
    pub mod install;
    pub mod live;
    pub mod pattern;
    pub mod templates;
    pub mod trie;
    pub mod written;
}
#[path = "src/hash.rs"]
mod hash;
#[path = "src/time.rs"]
mod time;

use entry::Id;
use format::compile::Format;
use format::descriptor::Descriptor;

fn main() -> Result<(), Box<dyn Error>> {
    for used in ["formats", "src/boundary.rs", "src/entry.rs", "src/format", "src/hash.rs", "src/time.rs"] {
        println!("cargo::rerun-if-changed={used}");
    }
    let mut files =
        std::fs::read_dir("formats")?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let built_in = files.iter().map(|file| built_in(file).map_err(|error| format!("{}: {error}", file.display())));
    let list = built_in.collect::<Result<Vec<_>, _>>()?.join(",\n");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    Ok(std::fs::write(Path::new(&out).join("built_in.rs"), format!("[{list}]"))?)
}

/// A descriptor as a Rust expression.
fn built_in(file: &Path) -> Result<String, Box<dyn Error>> {
    let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("not a file name")?;
    let text = std::fs::read_to_string(file)?;
    let (head, talk, body, live, install) = toml::from_str::<Descriptor>(&text)?.parts();
    let [format, detailed] = [false, true].map(|detailed| Format::compile(name, &body, &talk, detailed));
    let parts = [
        postcard::to_stdvec(&head)?,
        postcard::to_stdvec(&talk)?,
        postcard::to_stdvec(&format)?,
        postcard::to_stdvec(&detailed)?,
        postcard::to_stdvec(&live)?,
        postcard::to_stdvec(&install)?,
    ];
    let parts = parts.map(|part| format!("b\"{}\"", part.escape_ascii())).join(", ");
    Ok(format!("({name:?}, Id({}), [{parts}])", Id::of(text.as_bytes()).0))
}
