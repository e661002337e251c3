//! `session-reader export`: a session as one file for others.

use serde_json::json;

use crate::support::clients::real;
use crate::support::run::in_a_terminal;
use crate::support::script::Script;
use crate::support::secrets::{comes_through, corpus};
use crate::support::world::{ONE, THREE, TWO, World, path, skipped};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A session with one of everything that an export shows or leaves out.
fn checkout(world: &World) -> Script {
    let file = path(world, "work/src/checkout.rs");
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let typed = json!({"type": "text", "text": format!("deploy it with {TOKEN}, see the picture")});
    let question = json!({"questions": [{"question": "Which one?", "options": [
        {"label": "Half up", "description": "as in the spec"}, {"label": "Down"}]}]});
    let mut script = Script::of(world)
        .user("make the total include tax\n\n@maria says #482 is the spec <script>alert(1)</script>")
        .says("I look at **it** first:\n\n```rust\nfn total() {}\n```\n\n<b>not bold</b> [x](javascript:alert(1))")
        .does("Read", json!({"file_path": file}))
        .does("Edit", json!({"file_path": file, "old_string": "a\nb\nc", "new_string": "a\nB\nc"}))
        .runs("cargo test \"total\" && ls ~/x", true)
        .calls("AskUserQuestion", question)
        .result(false, "Half up")
        .does("ExitPlanMode", json!({"plan": "# Plan\n\n1. round *half up*"}))
        .line("assistant", json!({"id": "th", "role": "assistant", "content": [{"type": "thinking", "thinking": "It must not be logged."}]}))
        .line("user", json!({"role": "user", "content": [typed, image]}));
    script.lines.push("{\"type\":\"user\",".into());
    script
        .calls(
            "Bash",
            json!({"command": "cat a.log\ntail b.log", "timeout": 5}),
        )
        .result(
            false,
            &(1..=50)
                .map(|line| format!("line {line}\n"))
                .collect::<String>(),
        )
        .says(&format!("It is in {}.", path(world, "notes.txt")))
        .raw(json!({"type": "custom-title", "customTitle": format!("Totals with {TOKEN}")}))
}

/// The part of a page between its style and its script.
fn shown(page: &str) -> &str {
    let start = page.find("</style></head>").expect("a style") + "</style></head>".len();
    &page[start..page.find("<script>").expect("a script")]
}

/// All of the page that is not the same in every page.
#[test]
fn a_page_says_it_all() {
    let world = World::new();
    checkout(&world).save(&world, ONE);
    let page = world.reader(&["export", ONE]).run().success();
    assert_eq!(shown(page.out()), include_str!("export_page.html"));
    let head = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-";
    assert!(page.out().starts_with(head), "{}", page.out());
    assert!(page.out().ends_with("</script></body></html>\n"));
    let title = "<title>Totals with [redacted]</title>";
    assert!(page.out().contains(title));
    let markdown = world.reader(&["export", ONE, "--md"]).run().success();
    assert_eq!(markdown.out(), include_str!("export_page.md"));
}

#[test]
fn other_agents_look_the_same() {
    let world = World::new();
    let cwd = world.path("work");
    let codex = Script::codex(&world, TWO)
        .user("why is it slow?")
        .runs("cargo test", true)
        .patches("*** Update File: src/a.rs\n-old\n+new\n")
        .says("It commits after every row.");
    codex.save(&world, TWO);
    let expected = "\
<!-- session-reader export -->
### why is it slow?

Codex · \\~/work · 2026-11-16 01:01 to 01:04 UTC · 1 prompt, 2 calls, 1 failure

*1 home path left out.*

#### 2026-11-16

**User** 01:01

> why is it slow?

<details><summary><b>exec_command</b> <code>cargo test</code> – failed</summary>

```text
Chunk ID: a
Process exited with code 1
Output:
x
```

</details>

<details><summary><b>apply_patch</b> <code>src/a.rs</code> +1 −1</summary>

```diff
edits src/a.rs
-old
+new
```

```text
Exit code: 0
```

</details>

**Assistant** 01:04

It commits after every row.

---
*Written by session-reader 0.1.0 on 2026-11-16.*
";
    let markdown = |id| world.reader(&["export", id, "--md"]).run().success();
    markdown(TWO).stdout(expected);
    Script::pi(&cwd, THREE)
        .user("write a note")
        .writes("note.md", "one\ntwo\n")
        .calls("bash", json!({"command": "sleep 9"}))
        .save(&world, THREE);
    let expected = "\
<!-- session-reader export -->
### write a note

Pi · \\~/work · stub · 2026-11-16 01:01 to 01:03 UTC · 1 prompt, 2 calls

*1 home path left out.*

#### 2026-11-16

**User** 01:01

> write a note

<details><summary><b>write</b> <code>note.md</code> +2 −0</summary>

```diff
writes note.md
+one
+two
```

```text
ok
```

</details>

<b>bash</b> <code>sleep 9</code> – no result

---
*Written by session-reader 0.1.0 on 2026-11-16.*
";
    markdown(THREE).stdout(expected);
}

/// Transcripts that the real clients wrote: what was typed is there, and a page is whole.
#[test]
fn every_real_session_can_be_exported() {
    let world = World::new();
    for transcript in real() {
        let name = transcript.to_str().expect("UTF-8");
        let log = world
            .reader(&["log", name, "--prompts", "--json", "--lines", "9999"])
            .run();
        let page = world.reader(&["export", name]).run();
        if log.out().is_empty() {
            continue;
        }
        let page = page.success();
        for entry in log.json() {
            let text = entry["text"].as_str().expect("a text");
            let escaped = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace("/home/dev", "~");
            for word in escaped.split(|char: char| char.is_whitespace() || char.is_control()) {
                assert!(shown(page.out()).contains(word), "{name}: {word}");
            }
        }
        assert_eq!(
            page.out().matches("<details").count(),
            page.out().matches("</details>").count(),
            "{name}"
        );
    }
}

/// Results are shown with their calls: those of several calls at once, and one that comes late. One that comes after
/// thousands of entries stands where it is.
#[test]
fn a_result_stands_with_its_call() {
    let world = World::new();
    let call = |id: &str, command: &str| {
        let tool =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        json!({"id": format!("m-{id}"), "role": "assistant", "content": [tool]})
    };
    let result = |id: &str, text: &str| {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        json!({"role": "user", "content": [result]})
    };
    let markdown = |between: usize| {
        let mut script = Script::of(&world)
            .at("2026-11-16T01:00:00Z")
            .user("begin")
            .line("assistant", call("one", "make one"))
            .line("assistant", call("two", "make two"))
            .line("user", result("two", "two is made"));
        for number in 0..between {
            script = script.says(&format!("still at it {number}"));
        }
        script
            .line("user", result("one", "one is made"))
            .save(&world, ONE);
        let page = world.reader(&["export", ONE, "--md"]).run().success();
        page.out().to_owned()
    };
    let made = |command: &str, end: &str| {
        format!(
            "<details><summary><b>Bash</b> <code>{command}</code></summary>\n\n```text\n{end}\n```\n\n</details>\n"
        )
    };
    for between in [0, 1, 300, 2000] {
        let page = markdown(between);
        let both = made("make one", "one is made") + "\n" + &made("make two", "two is made");
        assert!(page.contains(&both), "{between}\n{}", &page[..800]);
        assert_eq!(page.matches("still at it").count(), between);
    }
    let page = markdown(6000);
    assert!(
        page.contains("<b>Bash</b> <code>make one</code> – no result\n"),
        "{}",
        &page[..800]
    );
    assert!(
        page.ends_with("</details>\n\n---\n*Written by session-reader 0.1.0 on 2026-11-16.*\n")
    );
    assert_eq!(page.matches("still at it").count(), 6000);
    assert_eq!(page.matches("one is made").count(), 1);
}

/// An image is known in what was typed and in what a tool answered.
#[test]
fn images_of_every_agent_are_counted() {
    let world = World::new();
    let left_out = |id: &str| {
        let page = world.reader(&["export", id, "--md"]).run().success();
        let line = page.out().lines().find(|line| line.ends_with("left out.*"));
        line.expect("a line").to_owned()
    };
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let image = json!({"type": "image", "source": source, "data": "AAAA", "mimeType": "image/png"});
    let answer = json!({"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "a"}, image, image]});
    Script::of(&world)
        .user("look")
        .line("user", json!({"role": "user", "content": [image]}))
        .calls("Read", json!({"file_path": "a.png"}))
        .line("user", json!({"role": "user", "content": [answer]}))
        .save(&world, ONE);
    assert_eq!(left_out(ONE), "*1 home path, 3 images left out.*");
    let input = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    Script::codex(&world, TWO)
        .item("response_item", json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, input]}))
        .calls("view_image", json!({"path": "a.png"}))
        .item("response_item", json!({"type": "function_call_output", "call_id": "t1", "output": [input]}))
        .save(&world, TWO);
    assert_eq!(left_out(TWO), "*1 home path, 2 images left out.*");
    Script::pi(&world.path("work"), THREE)
        .message(
            "user",
            json!({"content": [{"type": "text", "text": "look"}, image]}),
        )
        .calls("read", json!({"path": "a.png"}))
        .message(
            "toolResult",
            json!({"toolCallId": "t1", "isError": false, "content": [image]}),
        )
        .save(&world, THREE);
    assert_eq!(left_out(THREE), "*1 home path, 2 images left out.*");
}

/// A page is not much larger than what it shows.
#[test]
fn a_page_is_mostly_text() {
    let world = World::new();
    let mut script = Script::of(&world);
    for turn in 0..60 {
        let output =
            format!("test number_{turn} ... \"ok\" in {turn}.3 s: Vec<u8> is what it should be\n");
        let said = format!("It was **off by one**: the `end` of part {turn} was counted twice. ")
            .repeat(4);
        script = script
            .user(&format!("please look at the failing test number {turn}, and fix what is wrong with it"))
            .calls("Bash", json!({"command": format!("cargo test number_{turn}")}))
            .result(false, &output.repeat(30))
            .calls("Read", json!({"file_path": format!("src/part{turn}.rs")}))
            .result(false, &"    let total = cart.items.iter().map(|item| item.price).sum();\n".repeat(30))
            .does("Edit", json!({"file_path": format!("src/part{turn}.rs"), "old_string": "let a = 1;\nlet b = 2;", "new_string": "let a = 2;\nlet b = 2;\nlet c = 3;"}))
            .says(&format!("{said}\n\n- fixed\n- tested"));
    }
    script.save(&world, ONE);
    let page = world.reader(&["export", ONE]).run().success();
    let page = page.out();
    let visible: usize = shown(page)
        .split('<')
        .filter_map(|part| part.split_once('>'))
        .map(|(_, text)| {
            text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&")
                .len()
        })
        .sum();
    let ratio = page.len() as f64 / visible as f64;
    assert!(ratio <= 1.5, "{ratio}: {} for {visible}", page.len());
}

#[test]
fn more_or_less_of_it() {
    let world = World::new();
    checkout(&world).save(&world, ONE);
    let export = |args: &[&str]| {
        let args = [&["export", ONE], args].concat();
        world.reader(&args).run().success().out().to_owned()
    };
    let full = export(&["--full"]);
    for part in ["It must not be logged.", "line 50</samp>", "timeout: 5"] {
        assert!(full.contains(part), "{part}\n{full}");
        assert!(!export(&[]).contains(part), "{part}");
    }
    let prompts = export(&["--prompts", "--md"]);
    let expected = "\
**User** 01:00

> make the total include tax
>
> @<!-- -->maria says #<!-- -->482 is the spec &lt;script>alert(1)&lt;/script>

**User** 01:13

> deploy it with [redacted], see the picture

*Line 15 of the transcript could not be read*

---
";
    let start = prompts.find("**User**").expect("a prompt");
    let end = prompts.find("*Written").expect("an end");
    assert_eq!(&prompts[start..end], expected);
    let since = export(&["--since", "01:15", "--md"]);
    assert!(
        since.contains("· 2026-11-16 01:15 to 01:17 UTC · 1 call\n"),
        "{since}"
    );
    assert!(
        !since.contains("**User**") && since.contains("cat a.log"),
        "{since}"
    );
    world
        .reader(&["export", ONE, "--since", "02:59"])
        .run()
        .status(1)
        .stdout("")
        .stderr(&format!(
            "session-reader: nothing was said in '{ONE}' since then\n"
        ));
}

/// What a person looks at before sharing. Nothing is written, and no secret is shown whole unless that is asked for.
#[test]
fn a_review_lists_what_is_left_out() {
    let world = World::new();
    checkout(&world).save(&world, ONE);
    let home = path(&world, "");
    let home = home.trim_end_matches('/');
    let review = |secret: &str| {
        format!(
            "\
1 secret
  line 14, 2 times  deploy it with {secret}, see the picture
3 home paths
  head             {home}/work
  line 3, 2 times  {home}/work/src/checkout.rs
  line 18          It is in {home}/notes.txt.
1 image
  line 14
1 unreadable line
  line 15
Nothing was written. `session-reader log {ONE} --at LINE` shows a line.
"
        )
    };
    let run = |args: &[&str]| world.reader(&[&["export", ONE, "--review"], args].concat());
    run(&[])
        .run()
        .success()
        .stdout(&review("ghp_…45 (40 characters)"));
    run(&["--reveal"]).run().success().stdout(&review(TOKEN));
    run(&[])
        .env("SESSION_READER_REDACT", "on")
        .run()
        .success()
        .stdout(&review("[redacted]"));
    Script::new("/srv/shop".into())
        .user("hi")
        .says("Hello.")
        .save(&world, TWO);
    run(&["-o", "x"]).run().status(2);
    world
        .reader(&["export", TWO, "--review"])
        .run()
        .status(1)
        .stderr(&format!(
            "session-reader: there is nothing to leave out in '{TWO}'\n"
        ));
}

/// Every secret that is known to be hidden, in every place of a session: none comes out, in no form of an export.
#[test]
fn no_secret_comes_out() {
    let world = World::new();
    let rows: Vec<String> = corpus("secrets")
        .into_iter()
        .filter(|row| !comes_through(row))
        .collect();
    assert!(rows.len() > 400, "{}", rows.len());
    let mut script = Script::of(&world);
    for row in &rows {
        let text = row.replace(['⟦', '⟧'], "");
        script = script
            .user(&text)
            .says(&text)
            .calls("Bash", json!({"command": text, "description": "x"}))
            .result(true, &text)
            .does("Edit", json!({"file_path": "a.txt", "old_string": text, "new_string": format!("{text}\nnew")}))
            .does("ExitPlanMode", json!({"plan": text}))
            .does("AskUserQuestion", json!({"questions": [{"question": text, "options": [{"label": "a", "description": text}]}]}))
            .line("assistant", json!({"id": format!("th{}", script_id(&text)), "role": "assistant", "content": [{"type": "thinking", "thinking": text}]}));
    }
    let title =
        script.raw(json!({"type": "custom-title", "customTitle": format!("deploy with {TOKEN}")}));
    title.save(&world, ONE);
    for form in [
        &["--html"][..],
        &["--md"],
        &["--full"],
        &["--md", "--full"],
        &["--prompts"],
    ] {
        let page = world
            .reader(&[&["export", ONE], form].concat())
            .run()
            .success();
        let page = page.out();
        assert!(
            page.contains("[redacted]") && !page.contains("ghp_"),
            "{form:?}"
        );
        let plain = page
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&");
        for row in &rows {
            for (secret, _) in row
                .split('⟦')
                .skip(1)
                .filter_map(|part| part.split_once('⟧'))
            {
                let is_long = secret.chars().count() >= 12;
                assert!(!is_long || !plain.contains(secret), "{form:?}: {row}");
            }
        }
    }
    let revealed = world.reader(&["export", ONE, "--reveal"]).run().success();
    assert!(revealed.out().contains(TOKEN));
    assert!(shown(revealed.out()).contains("Nothing is hidden in this export."));
}

/// A number for a text, so that no two lines have the same id.
fn script_id(text: &str) -> usize {
    text.bytes().fold(7, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(byte))
    })
}

/// An export is replaced by a newer one; nothing else ever is.
#[test]
fn only_an_export_is_replaced() {
    let world = World::new();
    checkout(&world).save(&world, ONE);
    let to = |file: &str| world.reader(&["export", ONE, "-o", file]).run();
    let says = |file: &str, size: &str| {
        format!(
            "{file}: 12 entries, {size}\n1 secret, 3 home paths, 1 image, 1 unreadable line left out. See what: session-reader export 11111111 --review\n"
        )
    };
    let first = to("a.html").success();
    assert!(
        first.out().starts_with("a.html: 12 entries, "),
        "{}",
        first.out()
    );
    let page = world.read("work/a.html");
    assert!(page.contains("checkout.rs"));
    world.append("work/a.html", "old");
    to("a.html").success();
    assert_eq!(world.read("work/a.html"), page);
    to("a.md").success().stdout(&says("a.md", "1,875 bytes"));
    assert!(
        world
            .read("work/a.md")
            .starts_with("<!-- session-reader export -->")
    );

    // One that only speaks of exports is none.
    let own = "<!DOCTYPE html>\n<p>session-reader export</p>";
    world.write("work/notes.html", own);
    let there = path(&world, "work/notes.html");
    to("notes.html").status(2).stdout("").stderr(&format!(
        "session-reader: {there}: is there already, and no export; name another file with -o, or remove it\n"
    ));
    assert_eq!(world.read("work/notes.html"), own);
    to(".")
        .status(2)
        .stderr_has("is a directory; name a file in it");
    to("no/such/a.html")
        .status(2)
        .stderr_has("no such directory; make it first");
    assert!(!world.path("work/no").exists());
    to("/dev/null").success();
    // A link stays a link.
    std::os::unix::fs::symlink("a.html", world.path("work/link.html")).expect("a link");
    to("link.html").success();
    assert!(world.path("work/link.html").is_symlink());
    assert_eq!(world.read("work/a.html"), page);
    let left: Vec<_> = std::fs::read_dir(world.path("work"))
        .expect("a directory")
        .collect();
    assert_eq!(left.len(), 4, "no temporary file is left: {left:?}");
}

/// On a terminal a page would be of no use.
#[test]
fn on_a_terminal_it_writes_a_file() {
    let world = World::new();
    checkout(&world).save(&world, ONE);
    let Some(shown) = in_a_terminal(&world, &format!("export {ONE}"), ("A", "b")) else {
        return skipped("export on a terminal: there is no `script` on this machine");
    };
    assert!(shown.starts_with("11111111.html: 12 entries, "), "{shown}");
    assert!(
        world
            .read("work/11111111.html")
            .starts_with("<!DOCTYPE html>")
    );
}

/// If something goes wrong, nothing is written, not even a part.
#[test]
fn nothing_is_written_if_it_fails() {
    let world = World::new();
    world
        .reader(&["export", "nobody", "-o", "a.html"])
        .run()
        .status(2)
        .stdout("");
    let dir = world.path("work/x.jsonl");
    std::fs::create_dir(&dir).expect("a directory");
    world
        .reader(&["export", "./x.jsonl"])
        .run()
        .status(2)
        .stdout("");
    assert!(!world.path("work/a.html").exists());
    // A line that is still written is no line yet.
    let path = checkout(&world).save(&world, TWO);
    let text = std::fs::read_to_string(&path).expect("a transcript");
    world.write(&path, text + "{\"type\":\"user\",\"mess");
    let page = world.reader(&["export", TWO, "--md"]).run().success();
    assert!(page.out().contains("1 unreadable line left out"));
    // Not a line of it can be read: there is nothing to share but that.
    let text = checkout(&world).text().replace("{\"", "{'");
    world.claude(ONE, &text);
    let page = world.reader(&["export", ONE, "--md"]).run();
    assert!(
        !page.out().contains("ghp_") && !page.out().contains("tax"),
        "{}",
        page.out()
    );
}
