//! The caches of `session-reader`: whatever is in them, the answer is the one without them.
//!
//! `list.bin`, `resume.bin` and `said.bin` are tables that grow by one record for each session that changed. Here they are cut, damaged,
//! exchanged, and written by several processes at once. What counts in a list, and across a cut, is in `list.rs`.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use session_core::env::Env;
use session_core::fold::SaidLine;
use session_core::search::cache::{Part, SaidCache, Text, look_at};
use session_core::search::sources::Sources;
use session_core::session::index;
use session_format::cursor::Buffer;

use crate::scene::Chance;
use crate::support::claude::{answer, prompt};
use crate::support::clients::real;
use crate::support::files::settle;
use crate::support::reader::rows;
use crate::support::resume::resumed;
use crate::support::run::{at_once, ran_in_own_process};
use crate::support::script::Script;
use crate::support::world::World;

const LIST: &str = ".cache/session-monitor/list.bin";
const RESUME: &str = ".cache/session-monitor/resume.bin";
const SAID: &str = ".cache/session-monitor/said.bin";

fn size(world: &World, cache: &str) -> u64 {
    fs::metadata(world.path(cache)).expect("a cache").len()
}

/// Some sessions that were written long ago.
fn world_with(sessions: usize) -> (World, Vec<PathBuf>) {
    let world = World::new();
    let files: Vec<PathBuf> = (0..sessions)
        .map(|number| {
            let text = prompt(
                &world.path("work"),
                "2026-11-16T02:00:00Z",
                &format!("prompt number {number} of them"),
            );
            world.claude(&format!("{number:08}-0000-4000-8000-000000000001"), &text)
        })
        .collect();
    files.iter().for_each(|file| settle(file));
    (world, files)
}

fn grow(world: &World, file: &Path, text: &str) {
    world.append(
        file,
        answer(&world.path("work"), "2026-11-16T02:30:00Z", text),
    );
    settle(file);
}

/// One session that changed costs one record, however many there are; what is of no use goes when it is too much.
#[test]
fn one_change_adds_one_record() {
    if ran_in_own_process() {
        return;
    }
    let (world, files) = world_with(200);
    rows(&world);
    let whole = size(&world, LIST);
    grow(&world, &files[7], "one more");
    let expected = rows(&world);
    let added = size(&world, LIST) - whole;
    assert!(added > 0 && added < whole / 100, "{added} of {whole}");
    assert_eq!(
        (rows(&world), size(&world, LIST)),
        (expected, whole + added)
    );
    for round in 0..600 {
        grow(&world, &files[round % 3], "and on");
        rows(&world);
    }
    assert!(
        size(&world, LIST) < 2 * whole + (80 << 10),
        "{} from {whole}",
        size(&world, LIST)
    );
    let with_cache = rows(&world);
    fs::remove_file(world.path(LIST)).expect("a cache");
    assert_eq!(rows(&world), with_cache);
}

/// What a session that was deleted said is in no cache any more.
#[test]
fn a_deleted_session_leaves_nothing() {
    let (world, files) = world_with(3);
    rows(&world);
    world.reader(&["resume", "00000001"]).run().success();
    let has = |cache: &str| {
        let bytes = fs::read(world.path(cache)).expect("a cache");
        bytes.windows(15).any(|part| part == b"prompt number 1")
    };
    assert!(has(LIST) && has(RESUME));
    fs::remove_file(&files[1]).expect("removed");
    rows(&world);
    world.reader(&["resume", "00000002"]).run().success();
    assert!(!has(LIST) && !has(RESUME));
}

/// A process that is killed while it writes leaves a part of a record. What comes before it is still of use, and the next
/// change puts everything right.
#[test]
fn a_table_that_is_cut_anywhere_is_mended() {
    if ran_in_own_process() {
        return;
    }
    let (world, files) = world_with(3);
    rows(&world);
    let before = fs::read(world.path(LIST)).expect("a cache");
    grow(&world, &files[1], "grown");
    let expected = rows(&world);
    let whole = fs::read(world.path(LIST)).expect("a cache");
    assert!(whole.starts_with(&before));
    for length in (0..whole.len()).step_by(7).chain(before.len()..whole.len()) {
        fs::write(world.path(LIST), &whole[..length]).expect("cut");
        assert_eq!(rows(&world), expected, "{length} of {}", whole.len());
        let mended = fs::read(world.path(LIST)).expect("a cache");
        assert_eq!(
            rows(&world),
            expected,
            "{length} of {}, mended",
            whole.len()
        );
        assert_eq!(
            fs::read(world.path(LIST)).expect("a cache"),
            mended,
            "{length} of {}",
            whole.len()
        );
    }
}

/// No byte of a table can be wrong without somebody noticing.
#[test]
fn no_wrong_byte_goes_unnoticed() {
    if ran_in_own_process() {
        return;
    }
    let (world, files) = world_with(2);
    let list = rows(&world);
    let stop = resumed(&world, &["00000001"]);
    grow(&world, &files[1], "grown");
    let (grown_list, grown_stop) = (rows(&world), resumed(&world, &["00000001"]));
    assert!(list != grown_list && stop != grown_stop);
    let mut chance = Chance::new(11);
    for cache in [LIST, RESUME] {
        let whole = fs::read(world.path(cache)).expect("a cache");
        for position in (0..whole.len()).filter(|at| whole.len() < 1500 || at % 5 == 0) {
            let mut wrong = whole.clone();
            wrong[position] ^= 1 << chance.below(8);
            fs::write(world.path(cache), wrong).expect("written");
            match cache {
                LIST => assert_eq!(rows(&world), grown_list, "byte {position}"),
                _ => assert_eq!(
                    resumed(&world, &["00000001"]),
                    grown_stop,
                    "byte {position}"
                ),
            }
        }
    }
}

/// Another version's table is of no use, and neither are single records of it.
#[test]
fn a_table_of_another_version_is_of_no_use() {
    let (world, _) = world_with(3);
    let expected = rows(&world);
    let whole = fs::read(world.path(LIST)).expect("a cache");
    let head = whole
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a first line")
        + 1;
    let mut other = whole.clone();
    other[head - 2] ^= 1;
    // The first line of this version, before records of the other.
    rows(&world);
    fs::write(world.path(LIST), &other).expect("written");
    assert_eq!(rows(&world), expected);
    assert_eq!(
        fs::read(world.path(LIST)).expect("a cache"),
        whole,
        "written anew"
    );
}

/// Several processes at once: each shows what there is, and no table is the worse for it.
#[test]
fn several_lists_at_once_harm_no_table() {
    let (world, files) = world_with(20);
    let list = || world.reader(&["list", "--all", "--json"]);
    for round in 0..4 {
        files
            .iter()
            .skip(round)
            .step_by(4)
            .for_each(|file| grow(&world, file, "more"));
        let done = at_once((0..6).map(|_| list()).collect());
        let with_cache = rows(&world);
        fs::remove_file(world.path(LIST)).expect("a cache");
        assert_eq!(rows(&world), with_cache);
        done.into_iter()
            .for_each(|done| assert_eq!(done.success().out(), with_cache));
    }
    let dir = fs::read_dir(world.path(".cache/session-monitor")).expect("a directory");
    assert_eq!(dir.count(), 1, "no temporary file stays");
}

/// Several searches at once, the first of which make the file: each finds what there is, and so do later ones.
#[test]
fn several_searches_at_once_find_all_there_is() {
    let (world, files) = world_with(20);
    let search =
        |more: &[&str]| world.reader(&[&["search", "--all", "--json", "prompt"], more].concat());
    for round in 0..4 {
        files
            .iter()
            .skip(round)
            .step_by(4)
            .for_each(|file| grow(&world, file, "one more prompt"));
        let done = at_once((0..6).map(|_| search(&[])).collect());
        let expected = search(&["--no-cache"]).run().success().out().to_owned();
        done.into_iter()
            .for_each(|done| assert_eq!(done.success().out(), expected));
        assert_eq!(search(&[]).run().success().out(), expected);
    }
    let dir = fs::read_dir(world.path(".cache/session-monitor")).expect("a directory");
    assert_eq!(dir.count(), 2, "no temporary file stays");
}

/// Sessions of another named home are not in this list, but they stay in the cache.
#[test]
fn a_change_of_place_forgets_nothing() {
    let (world, _) = world_with(2);
    for home in ["one", "two"] {
        let pi = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{home}\",\"timestamp\":\"2026-11-16T02:00:00Z\",\"cwd\":\"/x\"}}\n{{\"type\":\"message\",\"id\":\"a\",\"timestamp\":\"2026-11-16T02:00:01Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello {home}\"}}}}\n"
        );
        settle(&world.write(format!("{home}/.volute/pi-sessions/main/s.jsonl"), pi));
    }
    let list = |home: &str| {
        let done = world
            .reader(&["list", "--all", "--json"])
            .dir(world.path(home))
            .run()
            .success();
        (
            done.out().to_owned(),
            fs::read(world.path(LIST)).expect("a cache"),
        )
    };
    let (one, _) = list("one");
    let (two, both) = list("two");
    assert!(one.contains("hello one") && two.contains("hello two"));
    assert_eq!(
        (list("one"), list("two")),
        ((one, both.clone()), (two, both))
    );
}

/// Of a session of another home the newest record stays, and those before it go when the table is written anew.
#[test]
fn a_session_elsewhere_has_one_record() {
    let (world, files) = world_with(2);
    let named = world.write("one/.volute/pi-sessions/main/s.jsonl", "");
    let list = |home: &str| {
        drop(
            world
                .reader(&["list", "--all"])
                .dir(world.path(home))
                .run()
                .success(),
        );
    };
    fs::create_dir(world.path("two")).expect("a directory");
    for number in 0..5 {
        let time = format!("2026-11-16T02:00:0{number}Z");
        let head = serde_json::json!({"type": "session", "version": 3, "id": "one", "timestamp": time, "cwd": "/x"});
        let said = serde_json::json!({"type": "message", "id": number.to_string(), "timestamp": time,
            "message": {"role": "user", "content": format!("hello {number}")}});
        world.append(
            &named,
            format!(
                "{}{said}\n",
                if number == 0 {
                    format!("{head}\n")
                } else {
                    String::new()
                }
            ),
        );
        list("one");
    }
    let records = || {
        let (bytes, path) = (
            fs::read(world.path(LIST)).expect("a cache"),
            named.to_str().expect("UTF-8").as_bytes(),
        );
        bytes
            .windows(path.len())
            .filter(|part| *part == path)
            .count()
    };
    assert_eq!(records(), 5);
    fs::remove_file(&files[0]).expect("removed");
    list("two");
    assert_eq!(records(), 1);
}

/// On every transcript of testdata: what is known of its first lines, brought up to date line by line or in at most 60 steps,
/// is what a reading of the whole file gives, with a last line that has no end yet and without.
#[test]
fn a_digest_that_grew_equals_reading_anew() {
    if ran_in_own_process() {
        return;
    }
    let mut tried = 0;
    for path in real() {
        let world = World::new();
        let text = fs::read(&path).expect("a transcript");
        let file = world.write("s.jsonl", b"");
        let resume = || {
            let done = world
                .reader(&["resume", "s.jsonl", "--json"])
                .dir(world.path(""))
                .run();
            (done.code(), done.out().to_owned(), done.err().to_owned())
        };
        let ends: Vec<usize> = (1..=text.len())
            .filter(|end| text[end - 1] == b'\n')
            .collect();
        let ends: Vec<usize> = ends
            .iter()
            .copied()
            .step_by(1 + ends.len() / 60)
            .chain(ends.last().copied())
            .collect();
        for (index, end) in ends.iter().enumerate() {
            let next = ends.get(index + 1).copied().unwrap_or(text.len());
            let is_compared = index % (1 + ends.len() / 5) == 0 || index + 1 == ends.len();
            let half = is_compared.then(|| usize::midpoint(*end, next));
            for end in [Some(*end), half].into_iter().flatten() {
                fs::write(&file, &text[..end]).expect("written");
                let grown = resume();
                tried += 1;
                if is_compared {
                    let cache = fs::read(world.path(RESUME)).ok();
                    let _ = fs::remove_file(world.path(RESUME));
                    assert_eq!(grown, resume(), "{}: {end} bytes", path.display());
                    cache
                        .into_iter()
                        .for_each(|cache| fs::write(world.path(RESUME), cache).expect("put back"));
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

/// A file that was written over begins and ends as before, but it is not what is known.
#[test]
fn a_digest_of_another_content_is_of_no_use() {
    let world = World::new();
    let text = Script::of(&world)
        .user("look at the old parser")
        .writes("src/old.rs", "fn old() {}")
        .says("done")
        .text();
    let file = world.write("s.jsonl", &text);
    let resumed = || resumed(&world, &[file.to_str().expect("UTF-8")]);
    assert_eq!(files(&resumed()), ["src/old.rs"]);
    fs::write(&file, text.replace("old.rs", "new.rs")).expect("written over");
    assert_eq!(files(&resumed()), ["src/new.rs"]);
}

fn files(resumed: &Value) -> Vec<String> {
    let all = resumed["files_modified"].as_array().expect("a list");
    all.iter()
        .map(|file| file["path"].as_str().expect("a path").to_owned())
        .collect()
}

/// A text that is not as it was written is read from its transcript; the others are as before.
#[test]
fn a_text_that_is_cut_or_wrong_is_read_anew() {
    let (world, files) = world_with(3);
    let found = || {
        world
            .reader(&["search", "--all", "--json", "prompt"])
            .run()
            .success()
            .out()
            .to_owned()
    };
    found();
    grow(&world, &files[1], "a prompt that has grown");
    let expected = found();
    let whole = fs::read(world.path(SAID)).expect("a cache");
    let mut chance = Chance::new(17);
    let cut = (0..whole.len())
        .step_by(13)
        .map(|length| whole[..length].to_vec());
    let wrong = (0..whole.len()).step_by(5).map(|position| {
        let mut wrong = whole.clone();
        wrong[position] ^= 1 << chance.below(8);
        wrong
    });
    for (number, bytes) in cut.chain(wrong).enumerate() {
        fs::write(world.path(SAID), bytes).expect("written");
        assert_eq!(found(), expected, "{number}");
        let mended = size(&world, SAID);
        assert_eq!(
            (found(), size(&world, SAID)),
            (expected.clone(), mended),
            "{number}, mended"
        );
    }
}

/// Whatever happens to `said.bin` and to the transcripts, also while a search has it open: texts that are read from it one
/// by one are those of the transcripts, read as a whole.
#[test]
fn texts_are_those_of_the_transcripts() {
    let (world, files) = world_with(6);
    let (formats, _) = session_core::formats::known(Path::new("/nonexistent"));
    let vars = [("HOME", ""), ("XDG_CACHE_HOME", ".cache")]
        .map(|(name, below)| (name.into(), world.path(below).into()));
    let env = Env::given(vars, world.path("work"), None);
    let mut chance = Chance::new(23);
    let (mut compared, mut most) = (0, 0);
    for round in 0..150 {
        let file = &files[chance.below(files.len())];
        let said = format!("round {round} {}", "and so on ".repeat(chance.below(40)));
        match chance.below(4) {
            0 => grow(&world, file, &said),
            1 => {
                world.append(
                    file,
                    answer(&world.path("work"), "2026-11-16T02:30:00Z", &said),
                );
                // Long enough ago to be known by its stamp, and lately enough to be read on.
                let opened = fs::File::options().append(true).open(file).expect("a file");
                let written = opened
                    .metadata()
                    .and_then(|meta| meta.modified())
                    .expect("a time");
                opened
                    .set_modified(written - std::time::Duration::from_secs(60 + round))
                    .expect("an older file");
            }
            2 => fs::write(
                file,
                prompt(&world.path("work"), "2026-11-16T02:00:00Z", &said),
            )
            .expect("written over"),
            _ => {}
        }
        let mut cache = SaidCache::open(&env, &formats);
        if let Ok(opened) = fs::File::options().write(true).open(world.path(SAID)) {
            let size = opened.metadata().expect("a size").len();
            let position = chance.below(size as usize + 1) as u64;
            match chance.below(6) {
                0 => opened.set_len(position).expect("cut"),
                1 | 2 => opened.write_all_at(b"nonsense", position).expect("damaged"),
                3 => fs::remove_file(world.path(SAID)).expect("removed"),
                _ => {}
            }
        }
        let sessions = index::list(&env, &formats, &mut Vec::new());
        cache.forget_gone(sessions.iter().map(|listed| &listed.session));
        for sources in Sources::of(sessions.iter().map(|listed| &listed.session), &[]) {
            let texts = [Some(&cache), None].map(|cache| {
                look_at(&sources, cache, false, &mut Buffer::default(), entries)
                    .expect("a text")
                    .0
            });
            assert_eq!(texts[0], texts[1], "round {round}");
            compared += 1;
        }
        most = most.max(fs::metadata(world.path(SAID)).map_or(0, |meta| meta.len()));
    }
    assert!(compared > 800, "{compared}");
    assert!(most > 1000 && most < 512 << 10, "{most}");
}

/// The entries of a text, each with where it comes from.
fn entries(text: &Text) -> Vec<(usize, String, String)> {
    let of_part = |part: &Part| {
        let lines: Vec<SaidLine> = (0..part.lines.count())
            .map(|index| part.lines.get(index))
            .collect();
        let ends = lines
            .iter()
            .skip(1)
            .map(|line| line.start as usize)
            .chain([part.text.len()]);
        let said = |(line, end): (&SaidLine, usize)| {
            let said = part
                .text
                .get(line.start as usize..end)
                .expect("a line")
                .to_owned();
            (
                part.file,
                format!("{:?}", SaidLine { start: 0, ..*line }),
                said,
            )
        };
        lines.iter().zip(ends).map(said).collect::<Vec<_>>()
    };
    text.parts.iter().flat_map(of_part).collect()
}
