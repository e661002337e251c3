//! A prompt with something pasted into it: what is quoted is what the user typed, before or behind the paste.

use crate::support::claude::prompt;
use crate::support::hook::{REQUEST, told_to};
use crate::support::times::ago;
use crate::support::world::{ONE, World};

#[test]
fn words_around_a_paste_are_quoted() {
    let world = World::new();
    let log = "[INFO] server is up\n[WARN] disk is nearly full\n";
    let output = "1s\nRun docker build\nshell: /usr/bin/bash\n".repeat(4);
    for (number, (pasted, quoted)) in [
        (
            format!("{log}which setting limits the disk usage?"),
            "which setting limits the disk usage?",
        ),
        (
            format!("{output}which setting limits the disk usage?"),
            "which setting limits the disk usage?",
        ),
        (
            format!("find the disk setting for this\n{log}"),
            "find the disk setting for this",
        ),
        (
            format!("find the disk setting for this\n\n{log}\nand document it"),
            "find the disk setting for this and document it",
        ),
        (
            "4:06:53 PM start\n4:06:54 PM stop\n\nrestart the worker every night".into(),
            "restart the worker every night",
        ),
        (
            "> move the footer below the form".into(),
            "move the footer below the form",
        ),
        // Nothing was typed: the prompt before it says more.
        (log.into(), REQUEST),
        (output.clone(), REQUEST),
        (
            "core-sw1#show vlan\n1 default active\ncore-sw1#exit".into(),
            REQUEST,
        ),
        (
            "me@host:~/src$ make\nmake: nothing to be done".into(),
            REQUEST,
        ),
        (
            "error: cannot find value `fo`\nhelp: did you mean `foo`?".into(),
            REQUEST,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let cwd = world.path("work");
        world.claude(
            ONE,
            &(prompt(&cwd, &ago(6), REQUEST) + &prompt(&cwd, &ago(5), &pasted)),
        );
        let told = told_to(&world, &format!("o{number}"));
        assert!(
            told.ends_with(&format!("- 11111111 (5m ago, 2 messages): \"{quoted}\"")),
            "{pasted:?}\n{told}"
        );
    }
}
