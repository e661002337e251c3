//! Lines of a file, forward and backward, against a model; and a cursor that knows whether its file is still the same.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use session_format::cursor::{Backward, Buffer, Cursor, Forward, Line, Pieces};

use crate::scene::Chance;

/// A file that gets one content after another.
struct Changing {
    _dir: tempfile::TempDir,
    file: File,
}

impl Changing {
    fn new() -> Changing {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("lines");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .expect("a file");
        Changing { _dir: dir, file }
    }

    fn set(&self, content: &[u8]) {
        self.file
            .set_len(content.len() as u64)
            .expect("a new length");
        self.file.write_all_at(content, 0).expect("a new content");
    }
}

fn bytes(line: Line) -> (u64, Vec<u8>) {
    match line {
        Line::Whole(offset, bytes) => (offset, bytes.to_vec()),
        Line::Long(mut line) => {
            let mut all = Vec::new();
            while line.advance().expect("a piece") {
                all.extend_from_slice(line.piece());
            }
            (line.offset, all)
        }
    }
}

type Lines = Vec<(u64, Vec<u8>)>;

/// The lines of a text with their offsets, and what follows the last newline.
fn model(text: &[u8], from: usize) -> (Lines, Vec<u8>) {
    let mut start = from;
    let mut lines = Vec::new();
    while let Some(length) = text[start..].iter().position(|byte| *byte == b'\n') {
        lines.push((start as u64, text[start..start + length].to_vec()));
        start += length + 1;
    }
    (lines, text[start..].to_vec())
}

fn check_forward(file: &File, text: &[u8], from: usize, buffer: &mut Buffer) {
    let shown = || format!("{} bytes from {from}", text.len());
    let (expected, rest) = model(text, from);
    let mut forward = Forward::new(file, from as u64, text.len() as u64, buffer);
    let mut lines = Vec::new();
    while let Some(line) = forward.next_line().expect("a line") {
        lines.push(bytes(line));
    }
    assert!(lines == expected, "other lines, {}", shown());
    let end = (text.len() - rest.len()) as u64;
    assert_eq!(forward.offset(), end, "{}", shown());
    assert!(
        forward.next_line().expect("the end").is_none(),
        "the end stays the end, {}",
        shown()
    );
    if rest.len() < 128 * 1024 {
        let last = forward.last().map(bytes);
        assert!(
            last == (!rest.is_empty()).then_some((end, rest)),
            "another rest, {}",
            shown()
        );
    }
}

fn check_backward(file: &File, text: &[u8]) {
    let (mut expected, rest) = model(text, 0);
    let unfinished = !rest.is_empty();
    if unfinished {
        expected.push(((text.len() - rest.len()) as u64, rest));
    }
    let mut backward = Backward::new(file, text.len() as u64).expect("the end");
    let mut lines = Vec::new();
    while let Some((line, finished)) = backward.previous_line().expect("a line") {
        assert_eq!(
            finished,
            !(unfinished && lines.is_empty()),
            "{} bytes, line {}",
            text.len(),
            lines.len()
        );
        lines.push(bytes(line));
    }
    lines.reverse();
    assert!(lines == expected, "other lines, {} bytes", text.len());
}

fn check(file: &Changing, text: &[u8], buffer: &mut Buffer) {
    file.set(text);
    check_forward(&file.file, text, 0, buffer);
    check_backward(&file.file, text);
}

/// Every text of up to nine bytes that are newlines or not, read from every place.
#[test]
fn short_texts_are_split_at_their_newlines() {
    let file = Changing::new();
    let mut buffer = Buffer::default();
    for length in 0..=9 {
        for pattern in 0..1u32 << length {
            let byte = |index| {
                if pattern >> index & 1 == 1 {
                    b'\n'
                } else {
                    b'a' + index as u8
                }
            };
            let text: Vec<u8> = (0..length).map(byte).collect();
            check(&file, &text, &mut buffer);
            for from in 1..=length {
                check_forward(&file.file, &text, from, &mut buffer);
            }
        }
    }
}

/// Lines that end just before, at and after every place where a buffer ends.
#[test]
fn lines_around_the_buffer_sizes() {
    let file = Changing::new();
    let mut buffer = Buffer::default();
    for size in [64 * 1024, 128 * 1024, 256 * 1024, 384 * 1024] {
        for length in size - 2..=size + 2 {
            let before: &[&str] = if length % 2 == 0 {
                &["", "a\n", "\n\n"]
            } else {
                &["ab\n"]
            };
            for before in before {
                for after in ["", "\n", "\nz", "\nz\n"] {
                    let text = [before.as_bytes(), &vec![b'x'; length], after.as_bytes()].concat();
                    check(&file, &text, &mut buffer);
                }
            }
        }
    }
}

/// A text of long and short lines, each with its own letters.
fn long_text(chance: &mut Chance) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..=chance.below(8) {
        let most = [3, 200, 70_000, 140_000, 300_000, 600_000][chance.below(6)];
        let length = chance.below(most);
        text.extend((0..length).map(|index| b'A' + ((index ^ length) % 26) as u8));
        text.push(b'\n');
    }
    if chance.below(2) == 0 {
        text.truncate(text.len() - chance.below(text.len()));
    }
    text
}

#[test]
fn long_texts_are_split_at_their_newlines() {
    let file = Changing::new();
    let mut buffer = Buffer::default();
    for seed in 0..40 {
        let mut chance = Chance::new(seed);
        let text = long_text(&mut chance);
        check(&file, &text, &mut buffer);
        check_forward(&file.file, &text, chance.below(text.len() + 1), &mut buffer);
    }
}

/// A reader that was told a size sees what is there by then: shorter, or empty.
#[test]
fn a_file_that_shrinks_between_two_reads_is_just_shorter() {
    let file = Changing::new();
    let mut buffer = Buffer::default();
    for seed in 0..40 {
        let mut chance = Chance::new(seed);
        let text = long_text(&mut chance);
        let left = chance.below(text.len() + 1);
        let steps = chance.below(4);

        file.set(&text);
        let mut forward = Forward::new(&file.file, 0, text.len() as u64, &mut buffer);
        let mut taken = 0;
        while let Some(line) = forward.next_line().expect("a line") {
            let (offset, line) = bytes(line);
            assert!(text[offset as usize..].starts_with(&line));
            taken += 1;
            if taken == steps + 1 {
                file.file.set_len(left as u64).expect("shorter");
            }
        }

        file.set(&text);
        let mut backward = Backward::new(&file.file, text.len() as u64).expect("the end");
        for step in 0.. {
            if step == steps {
                file.file.set_len(left as u64).expect("shorter");
            }
            let Some((line, _)) = backward.previous_line().expect("a line") else {
                break;
            };
            let (offset, line) = bytes(line);
            assert!(text[offset as usize..].starts_with(&line));
        }
    }
}

#[test]
fn a_cursor_holds_while_the_file_only_grows() {
    let file = Changing::new();
    for length in [0, 1, 63, 64, 65, 1000] {
        let text: Vec<u8> = (0..length).map(|index| b'a' + (index % 26) as u8).collect();
        file.set(&text);
        let cursor = Cursor::at(&file.file, length as u64).expect("a cursor");
        assert!(cursor.holds(&file.file).unwrap(), "{length}");
        file.set(&[&text[..], b"more\n"].concat());
        assert!(cursor.holds(&file.file).unwrap(), "{length}, grown");
        if length > 0 {
            file.set(&text[..length - 1]);
            assert!(!cursor.holds(&file.file).unwrap(), "{length}, truncated");
            file.set(b"");
            assert!(!cursor.holds(&file.file).unwrap(), "{length}, emptied");
        }
    }
    file.set(b"short");
    assert!(Cursor::at(&file.file, 6).is_err(), "beyond the end");
}

#[test]
fn a_cursor_knows_a_replaced_file_by_any_of_the_bytes_before_it() {
    let file = Changing::new();
    let text: Vec<u8> = (0..200).map(|index| b'a' + (index % 26) as u8).collect();
    file.set(&text);
    let cursor = Cursor::at(&file.file, 150).expect("a cursor");
    // The first of the file, and those right before the cursor.
    let marked = |place: usize| (0..64).contains(&place) || (86..150).contains(&place);
    for place in 0..200 {
        let mut other = text.clone();
        other[place] ^= 1;
        file.set(&other);
        assert_eq!(
            cursor.holds(&file.file).unwrap(),
            !marked(place),
            "same size, byte {place}"
        );
        other.extend_from_slice(b"and more");
        file.set(&other);
        assert_eq!(
            cursor.holds(&file.file).unwrap(),
            !marked(place),
            "larger, byte {place}"
        );
    }
}
