//! The page of the user's notes.

use std::path::{Path, PathBuf};

use crate::support::claude::prompt;
use crate::support::files::files_below;
use crate::support::world::{ONE, TWO, World};

/// The page of the project that a directory belongs to.
pub fn page_in(world: &World, dir: &str) -> PathBuf {
    world
        .context(&["notes", "--path"])
        .dir(world.path(dir))
        .run()
        .success()
        .out()
        .trim_end()
        .into()
}

pub fn page(world: &World) -> PathBuf {
    page_in(world, "work")
}

/// Writes the page by hand.
pub fn edit(world: &World, content: impl AsRef<[u8]>) -> PathBuf {
    let page = page(world);
    world.write(&page, content);
    page
}

pub fn read(path: &Path) -> String {
    String::from_utf8_lossy(
        &std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
    .into()
}

/// Every file below the user's data, but the locks.
pub fn data(world: &World) -> Vec<String> {
    let files = files_below(&world.path(".data")).into_iter();
    let kept = files.filter(|path| path.extension().is_none_or(|end| end != "lock"));
    kept.map(|path| path.display().to_string()).collect()
}

/// Two Claude sessions of this project, and one of another.
pub fn sessions() -> World {
    let world = World::new();
    let said = |dir: &str, text: &str| prompt(&world.path(dir), "2026-11-16T02:00:00Z", text);
    world.claude(ONE, &said("work", "first"));
    world.claude(TWO, &said("work", "second"));
    std::fs::create_dir_all(world.path("other")).expect("a directory");
    world.write(
        ".claude/projects/-other/33333333.jsonl",
        said("other", "third"),
    );
    world
}
