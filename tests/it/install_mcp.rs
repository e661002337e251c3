//! `session-context install --mcp`: our server in the settings of each agent that takes one, and every other byte as it was.

use serde_json::{Value, json};

use crate::support::files::files_below;
use crate::support::run::program;
use crate::support::world::World;

/// An agent, the file with its servers, what the user has there, and the same with our server in it.
struct Agent {
    called: &'static str,
    file: &'static str,
    theirs: &'static str,
    with_ours: &'static str,
}

const AGENTS: [Agent; 5] = [
    Agent {
        called: "claude",
        file: ".claude.json",
        theirs: "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"db\": {\"command\": \"db\"} // mine\n  }\n}\n",
        with_ours: "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"db\": {\"command\": \"db\"}, // mine\n    \"session-monitor\": {\n      \"type\": \"stdio\",\n      \"command\": READER,\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
    },
    Agent {
        called: "codex",
        file: ".codex/config.toml",
        theirs: "# mine\nmodel = \"gpt-5.5\"\n\n[mcp_servers.db]\ncommand = \"db\" # fast\n",
        with_ours: "# mine\nmodel = \"gpt-5.5\"\n\n[mcp_servers.db]\ncommand = \"db\" # fast\n\n[mcp_servers.session-monitor]\ncommand = READER\nargs = [\"mcp\"]\n",
    },
    Agent {
        called: "copilot",
        file: ".copilot/mcp-config.json",
        theirs: "{\"mcpServers\": {\"db\": {\"command\": \"db\"}}}\n",
        with_ours: "{\"mcpServers\": {\"db\": {\"command\": \"db\"}, \"session-monitor\": {\"type\": \"local\", \"command\": READER, \"args\": [\"mcp\"], \"tools\": [\"*\"]}}}\n",
    },
    Agent {
        called: "gemini",
        file: ".gemini/settings.json",
        theirs: "{\n  // mine\n  \"mcpServers\": {}\n}\n",
        with_ours: "",
    },
    Agent {
        called: "qwen",
        file: ".qwen/settings.json",
        theirs: "{\n  \"model\": {\"name\": \"x\"} /* mine */\n}\n",
        with_ours: "",
    },
];

/// The reader beside the program that installs.
fn reader() -> String {
    let path = std::path::Path::new(&program()).with_file_name("session-reader");
    path.to_str().expect("UTF-8").to_owned()
}

/// Our server, as a file has it; the settings of Codex are TOML.
fn server(world: &World, agent: &Agent) -> Value {
    let text = world.read(agent.file);
    let (key, all): (&str, Value) = if agent.file.ends_with(".toml") {
        ("mcp_servers", toml::from_str(&text).expect("TOML"))
    } else {
        let text: String = text
            .lines()
            .map(|line| line.split(" //").next().unwrap_or_default())
            .collect();
        let text = text.replace("/* mine */", "").replace("  // mine", "");
        ("mcpServers", serde_json::from_str(&text).expect("JSON"))
    };
    all[key]["session-monitor"].clone()
}

#[test]
fn the_server_is_added_and_taken_out_again() {
    for agent in &AGENTS {
        let Agent {
            called,
            file,
            theirs,
            with_ours,
        } = agent;
        let world = World::new();
        world.write(file, theirs);
        let before = files_below(&world.path(""));
        let install = || world.context(&["install", called, "--mcp"]).run().success();
        let did = install().out().to_owned();
        assert!(
            did.contains(&format!("\nmcp    added to ~/{file}")),
            "{did}"
        );
        let installed = world.read(file);
        if !with_ours.is_empty() {
            let expected = with_ours.replace("READER", &Value::from(reader()).to_string());
            assert_eq!(installed, expected, "{called}");
        }
        let server = server(&world, agent);
        assert_eq!(
            (&server["command"], &server["args"]),
            (&json!(reader()), &json!(["mcp"])),
            "{called}"
        );
        // Once more, with and without the flag: nothing changes.
        for did in [
            install(),
            world.context(&["install", called]).run().success(),
        ] {
            assert!(
                did.out()
                    .contains(&format!("mcp    already installed in ~/{file}\n")),
                "{}",
                did.out()
            );
            assert_eq!(world.read(file), installed);
        }
        let undone = world.context(&["uninstall", called]).run().success();
        assert!(undone.out().contains("mcp    removed "), "{}", undone.out());
        assert_eq!(world.read(file), *theirs, "{called}");
        assert_eq!(files_below(&world.path("")).len(), before.len(), "{called}");
    }
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    for agent in &AGENTS {
        let world = World::new();
        let dir = agent
            .file
            .split('/')
            .next()
            .filter(|dir| *dir != ".claude.json");
        std::fs::create_dir_all(world.path(dir.unwrap_or(".claude"))).expect("a directory");
        let before = files_below(&world.path(""));
        world
            .context(&["install", agent.called, "--mcp"])
            .run()
            .success();
        assert_eq!(
            server(&world, agent)["command"],
            json!(reader()),
            "{}",
            agent.called
        );
        world.context(&["uninstall", agent.called]).run().success();
        assert_eq!(files_below(&world.path("")), before, "{}", agent.called);
    }
}

#[test]
fn a_program_that_moved_is_brought_up_to_date_and_what_the_user_added_stays() {
    let world = World::new();
    let theirs = "[mcp_servers.session-monitor]\ncommand = \"/old/session-reader\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 3\n\n[mcp_servers.session-monitor.tools.list_sessions]\napproval_mode = \"approve\"\n\n[tui]\ntheme = \"x\"\n";
    world.write(".codex/config.toml", theirs);
    let did = world.context(&["install", "codex"]).run().success();
    assert!(
        did.out()
            .contains("mcp    updated in ~/.codex/config.toml\n"),
        "{}",
        did.out()
    );
    assert_eq!(
        world.read(".codex/config.toml"),
        theirs.replace("/old/session-reader", &reader())
    );
    world.context(&["uninstall", "codex"]).run().success();
    assert_eq!(world.read(".codex/config.toml"), "[tui]\ntheme = \"x\"\n");
}

#[test]
fn what_cannot_be_changed_safely_is_refused() {
    for (called, file, text, why) in [
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { db = { command = \"db\" } }\n",
            "our server cannot be added to what is there; write in by hand:\n[mcp_servers.session-monitor]",
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = \n",
            ".codex/config.toml:1:",
        ),
        (
            "copilot",
            ".copilot/mcp-config.json",
            "{\"mcpServers\": []}",
            "\"mcpServers\" is not an object: {…} is expected here",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {\"session-monitor\": {\"command\": \"other\"}}}",
            "there is another server called \"session-monitor\"; rename it",
        ),
    ] {
        let world = World::new();
        world.write(file, text);
        let done = world.context(&["install", called, "--mcp"]).run().status(2);
        assert!(done.err().contains(why), "{}", done.err());
        assert!(done.err().contains("nothing was changed"), "{}", done.err());
        assert_eq!(world.read(file), text);
    }
    // Without the flag, a file that is not about us is nobody's business.
    let world = World::new();
    world.write(".codex/config.toml", "model = \n");
    world.context(&["install", "codex"]).run();
    assert_eq!(world.read(".codex/config.toml"), "model = \n");
}

#[test]
fn an_agent_without_servers_is_told_so() {
    let world = World::new();
    std::fs::create_dir_all(world.path(".pi/agent")).expect("a directory");
    let did = world.context(&["install", "pi", "--mcp"]).run().success();
    assert!(
        did.out()
            .contains("note   Pi has no MCP servers; its skill runs session-reader\n"),
        "{}",
        did.out()
    );
    // Where a variable moves Claude Code's directory, its servers are in there.
    let moved = world.path("moved");
    let install = world
        .context(&["install", "claude", "--mcp"])
        .env("CLAUDE_CONFIG_DIR", &moved);
    let did = install.run().success();
    assert!(
        did.out().contains("mcp    added to ~/moved/.claude.json"),
        "{}",
        did.out()
    );
    assert!(!world.path(".claude.json").exists());
}

#[test]
fn the_doctor_finds_a_program_that_is_gone() {
    for agent in &AGENTS {
        let world = World::new();
        world
            .context(&["install", agent.called, "--mcp"])
            .run()
            .success();
        let doctor = || world.context(&["doctor"]).run().out().to_owned();
        let good = format!("tools in ~/{}\n", agent.file);
        assert!(doctor().contains(&good), "{}", doctor());
        let text = world.read(agent.file);
        world.write(agent.file, text.replace(&reader(), "/gone/session-reader"));
        let bad = format!(
            "tools: ~/{} runs /gone/session-reader, which is not there; install it again\n",
            agent.file
        );
        assert!(doctor().contains(&bad), "{}", doctor());
    }
}
