//! Exports in a real browser: nothing runs but our own script, nothing is fetched, and nothing is reported to the console.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::clients::{OWN, all_clients};
use crate::support::script::Script;
use crate::support::world::{ONE, World, skipped};

/// What a browser made of a page.
struct Seen {
    dom: String,
    console: Vec<String>,
}

/// Opens a page in a browser of its own; none where there is no browser.
fn open(world: &World, page: &Path, anchor: &str) -> Option<Seen> {
    let programs = ["chromium", "chromium-browser", "google-chrome"];
    let program = programs
        .map(|name| Path::new("/usr/bin").join(name))
        .into_iter()
        .find(|path| path.exists());
    let Some(program) = program else {
        skipped("exports in a browser: there is no chromium on this machine");
        return None;
    };
    let done = Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--disable-extensions"])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=5000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            world.path("browser").display()
        ))
        // Another page of the test may press keys.
        .args(["--allow-file-access-from-files", "--dump-dom"])
        .arg(format!("file://{}{anchor}", page.display()))
        .env("HOME", world.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("the browser runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (dom, log) = (text(&done.stdout), text(&done.stderr));
    assert!(dom.contains("</html>"), "{}\n{log}", done.status);
    let console = log.lines().filter(|line| line.contains(":CONSOLE"));
    Some(Seen {
        console: console.map(str::to_owned).collect(),
        dom,
    })
}

/// A server that nobody may ask for anything. It answers at once, so that nobody waits for it.
struct Canary {
    address: String,
    asked: Arc<AtomicBool>,
}

impl Canary {
    fn new() -> Canary {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::<AtomicBool>::default();
        let noted = Arc::clone(&asked);
        // It ends with the tests.
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                noted.store(true, Ordering::SeqCst);
            }
        });
        Canary { address, asked }
    }

    fn was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Texts that would do something in a page that took them for more than text.
fn attacks(canary: &str) -> Vec<String> {
    let run = format!(
        "document.documentElement.dataset.pwned=1;console.log('pwned');fetch('{canary}/f')"
    );
    [
        format!("<script>{run}</script>"),
        format!("</script><script>{run}</script>"),
        format!("</title></style></textarea></pre></code></p></details></article></main><script>{run}</script>"),
        format!("<img src=x onerror=\"{run}\">"),
        format!("<img src={canary}/i.png>"),
        format!("<svg onload=\"{run}\"><animate onbegin=\"{run}\" attributeName=x dur=1s></svg>"),
        format!("<svg><use href=\"{canary}/s.svg#x\"></use></svg>"),
        format!("<iframe src=\"{canary}/f\" srcdoc=\"<script>{run}</script>\"></iframe>"),
        format!("<link rel=stylesheet href={canary}/c.css><style>@import url({canary}/d.css);*{{background:url({canary}/b.png)}}</style>"),
        format!("<meta http-equiv=refresh content=\"0;url={canary}/r\"><base href=\"{canary}/\">"),
        format!("<form action={canary}/p><button autofocus onfocus=\"{run}\">x</button></form>"),
        format!("<details open ontoggle=\"{run}\">x</details><input autofocus onfocus=\"{run}\">"),
        format!("<object data={canary}/o></object><embed src={canary}/e><video src={canary}/v autoplay></video>"),
        format!("[x](javascript:{run}) <javascript:{run}> [y](data:text/html,<script>{run}</script>) [z](vbscript:x)"),
        format!("![x]({canary}/m.png) ![y](javascript:{run}) [r]\n\n[r]: javascript:{run}"),
        format!("[x](https://e.example/\" onmouseover=\"{run}) <a href=\"{canary}/a\" ping={canary}/g>x</a>"),
        format!("```\"><script>{run}</script>\n</code></pre><script>{run}</script>"),
        format!("<!-- --><script>{run}</script><!--> -- <![CDATA[<script>{run}</script>]]> <?x <script>{run}</script>?>"),
        "\u{202e}txet sdrawkcab \u{2066}\u{200b}<\u{0}script>".to_owned(),
        "| a | b |\n|:--|--:|\n| 1 | 2 |\n\n- [x] done\n\n7. seven".to_owned(),
        "[".repeat(3000) + &"> ".repeat(500) + &"*a".repeat(2000),
    ]
    .into()
}

fn export(world: &World, name: &str, file: &str) {
    world
        .reader(&["export", name, "--full", "-o", file])
        .run()
        .success();
}

/// Without this, silence would prove nothing: a page that does something is noticed.
#[test]
fn a_page_that_does_something_is_noticed() {
    let (world, canary) = (World::new(), Canary::new());
    let address = &canary.address;
    let page = format!(
        "<!DOCTYPE html><html><body><img src={address}/x><script>console.log('pwned')</script></body></html>"
    );
    let page = world.write("work/bad.html", page);
    let Some(seen) = open(&world, &page, "") else {
        return;
    };
    assert!(
        canary.was_asked() && !seen.console.is_empty(),
        "{:?}",
        seen.console
    );
}

#[test]
fn a_hostile_session_does_nothing() {
    let (world, canary) = (World::new(), Canary::new());
    let mut script = Script::of(&world);
    for attack in attacks(&canary.address) {
        script = script
            .user(&attack)
            .says(&attack)
            .calls("Bash", json!({"command": attack, "description": attack}))
            .result(true, &attack)
            .does(&attack, json!({"file_path": attack}))
            .does("Edit", json!({"file_path": attack, "old_string": attack, "new_string": format!("{attack}\n{attack}")}))
            .does("ExitPlanMode", json!({"plan": attack}))
            .does("AskUserQuestion", json!({"questions": [{"question": attack, "options": [{"label": attack, "description": attack}]}]}))
            .raw(json!({"type": "custom-title", "customTitle": attack}));
    }
    script.save(&world, ONE);
    export(&world, ONE, "hostile.html");
    let page = world.path("work/hostile.html");
    let Some(seen) = open(&world, &page, "#e3") else {
        return;
    };
    assert_eq!(seen.console, [""; 0]);
    assert!(!canary.was_asked(), "something was fetched");
    let root = &seen.dom[..seen.dom.find("<head>").expect("a head")];
    assert!(!root.contains("pwned"), "{root}");
    // Our own script ran: the entry of the anchor is open, and the tools are there.
    assert!(
        seen.dom
            .contains("<details class=\"x at\" id=\"e3\" open=\"\">"),
        "{}",
        &seen.dom[..9000]
    );
    assert!(seen.dom.contains("<div id=\"tools\">"));
    // Of all elements, none is one that only an attack would have made.
    for tag in [
        "<img",
        "<svg",
        "<iframe",
        "<object",
        "<embed",
        "<video",
        "<form",
        "<base",
        "<link",
        "<a href=\"javascript",
    ] {
        assert!(!seen.dom.contains(tag), "{tag}");
    }
    assert_eq!(seen.dom.matches("<script").count(), 1);
    assert_eq!(seen.dom.matches("<style").count(), 1);
}

/// One page with a frame for each agent.
#[test]
fn exports_of_every_agent_are_quiet() {
    let (world, canary) = (all_clients(), Canary::new());
    let mut frames = String::new();
    for (agent, id) in OWN {
        let file = format!("{agent}.html");
        export(&world, id, &file);
        frames += &format!("<iframe src=\"{file}\" width=900 height=600></iframe>");
    }
    let page = world.write(
        "work/all.html",
        format!("<!DOCTYPE html><html><body>{frames}</body></html>"),
    );
    let Some(seen) = open(&world, &page, "") else {
        return;
    };
    assert_eq!(seen.console, [""; 0]);
    assert!(!canary.was_asked());
}

/// A page around the page presses keys and looks at what comes of it.
#[test]
fn keys_search_and_go_to_what_failed() {
    let world = World::new();
    Script::of(&world)
        .user("make the total include tax")
        .runs("cargo build", false)
        .runs("cargo test one", true)
        .user("and round it")
        .runs("cargo test two", true)
        .says("The Rounding is right.")
        .save(&world, ONE);
    export(&world, ONE, "keys.html");
    let driver = r#"<!DOCTYPE html><html><body><iframe src="keys.html"></iframe><pre></pre><script>
        const frame = document.querySelector('iframe');
        frame.addEventListener('load', () => {
            const page = frame.contentDocument;
            const at = () => page.querySelectorAll('.at').length + ' ' + page.querySelector('.at')?.id;
            const said = [];
            const press = (key, target = page) => {
                target.dispatchEvent(new frame.contentWindow.KeyboardEvent('keydown', { key, bubbles: true }));
                said.push(key + ': ' + at());
            };
            ['e', 'e', 'e', 'E', 'j', 'j', 'k', 'o'].forEach((key) => press(key));
            said.push('open: ' + page.querySelectorAll('main > details[open]').length);
            press('/');
            const find = page.getElementById('find');
            said.push('typing in: ' + page.activeElement.id);
            find.value = 'ROUND';
            find.dispatchEvent(new Event('input'));
            setTimeout(() => {
                said.push(page.getElementById('hits').textContent + ': ' + at());
                press('Enter', find);
                press('Escape', find);
                page.querySelectorAll('time')[2].click();
                said.push('address: ' + frame.contentWindow.location.hash);
                document.querySelector('pre').textContent = said.join('\n');
            }, 1000);
        });
    </script></body></html>"#;
    let driver = world.write("work/driver.html", driver);
    let Some(seen) = open(&world, &driver, "") else {
        return;
    };
    let said = seen.dom.split("<pre>").nth(1).expect("what was seen");
    let said = said.split("</pre>").next().expect("an end");
    let expected = "\
e: 1 e3
e: 1 e5
e: 1 e3
E: 1 e5
j: 1 p1
j: 1 p2
k: 1 p1
o: 1 p1
open: 3
/: 1 p1
typing in: find
2 found: 1 p2
Enter: 1 e6
Escape: 1 e6
address: #e3";
    assert_eq!((said, &seen.console[..]), (expected, &[][..]));
}
