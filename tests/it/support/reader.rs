//! What the reader says of a few lines.

use serde_json::Value;

use crate::support::claude::lines;
use crate::support::run::Done;
use crate::support::world::World;

/// The log of a file that is recognised from its lines.
pub fn log_of_file(all: &[&str]) -> Done {
    let world = World::new();
    let path = world.write("some.jsonl", lines(all));
    world.reader(&["log", path.to_str().expect("UTF-8")]).run()
}

/// What `list --all --json` says, without the paths.
pub fn listed(world: &World) -> Vec<Value> {
    let mut rows = world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .json();
    for row in &mut rows {
        let row = row.as_object_mut().expect("an object");
        row.retain(|key, _| {
            !["path", "handle", "reason", "since", "source"].contains(&key.as_str())
        });
    }
    rows
}

/// What `list --all --json` prints.
pub fn rows(world: &World) -> String {
    world
        .reader(&["list", "--all", "--json"])
        .run()
        .success()
        .out()
        .to_owned()
}
