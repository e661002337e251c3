//! Turns the bytes of a terminal into keys: letters, the keys beside them, the mouse and pasted text.
//!
//! Bytes are parsed here instead of by a library that reads them as well, because whoever reads must stop when another
//! program gets the screen, when half of a sequence is there, and when the terminal is gone.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Tab,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Paste(String),
    /// With the column and the row, from 0.
    Click(u16, u16),
    WheelUp(u16, u16),
    WheelDown(u16, u16),
    /// Something that nobody asked for.
    Other,
}

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// More is not held of a text that is pasted.
const LONGEST_PASTE: usize = 1 << 20;

/// A paste has begun and not ended, in what [`take`] left.
pub fn is_in_paste(bytes: &[u8]) -> bool {
    bytes.starts_with(PASTE_START)
}

/// Ends a paste whose end does not come.
pub fn end_paste(bytes: &mut Vec<u8>) {
    bytes.extend(PASTE_END);
}

/// Takes the keys from the beginning of some bytes. The start of a sequence stays until the rest comes, or until
/// [`end_paste`]: what is pasted must not be taken for keys. Only a lone escape is the key of that name if `is_all`.
pub fn take(bytes: &mut Vec<u8>, is_all: bool) -> Vec<Key> {
    let (mut keys, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match first(&bytes[at..]) {
            Some((key, length)) => {
                keys.push(key);
                at += length;
            }
            None if is_all && bytes[at..] == [0x1b] => {
                keys.push(Key::Esc);
                at += 1;
            }
            None => break,
        }
    }
    bytes.drain(..at);
    if is_in_paste(bytes) && bytes.len() > LONGEST_PASTE {
        // The end may be half there.
        bytes.drain(PASTE_START.len()..bytes.len() - PASTE_END.len());
    }
    keys
}

/// The first key and how many bytes it takes; none if that cannot be told yet.
fn first(bytes: &[u8]) -> Option<(Key, usize)> {
    match bytes[0] {
        0x1b => sequence(bytes),
        b'\r' | b'\n' => Some((Key::Enter, 1)),
        b'\t' => Some((Key::Tab, 1)),
        0x7f | 0x08 => Some((Key::Backspace, 1)),
        byte @ 1..0x1b => Some((Key::Ctrl(char::from(byte - 1 + b'a')), 1)),
        byte @ b' '..0x7f => Some((Key::Char(char::from(byte)), 1)),
        byte @ 0xc2..=0xf4 => {
            let length = if byte >= 0xf0 {
                4
            } else {
                2 + usize::from(byte >= 0xe0)
            };
            let mut rest = bytes[1..].iter().take(length - 1);
            if !rest.all(|byte| (0x80..0xc0).contains(byte)) {
                return Some((Key::Other, 1));
            }
            let text = bytes.get(..length)?;
            let char = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.chars().next());
            Some(char.map_or((Key::Other, 1), |char| (Key::Char(char), length)))
        }
        _ => Some((Key::Other, 1)),
    }
}

fn sequence(bytes: &[u8]) -> Option<(Key, usize)> {
    if bytes.starts_with(PASTE_START) {
        let end = memchr::memmem::find(bytes, PASTE_END)?;
        let text = String::from_utf8_lossy(&bytes[PASTE_START.len()..end]).into_owned();
        return Some((Key::Paste(text), end + PASTE_END.len()));
    }
    match bytes.get(1)? {
        b'O' => Some((named(*bytes.get(2)?, b""), 3)),
        b'[' => {
            let end = 2 + bytes[2..]
                .iter()
                .position(|byte| (b'@'..=b'~').contains(byte))?;
            let parameters = &bytes[2..end];
            let key = match parameters.strip_prefix(b"<") {
                Some(mouse) if bytes[end] == b'M' => moused(mouse),
                Some(_) => Key::Other,
                None => named(bytes[end], parameters),
            };
            Some((key, end + 1))
        }
        // Nothing here is done with Alt, so it is the key of that name and then another one.
        _ => Some((Key::Esc, 1)),
    }
}

fn named(last: u8, parameters: &[u8]) -> Key {
    match (last, parameters) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        _ => Key::Other,
    }
}

/// `BUTTON;COLUMN;ROW`, from 1.
fn moused(parameters: &[u8]) -> Key {
    let numbers = std::str::from_utf8(parameters)
        .unwrap_or_default()
        .split(';')
        .map(str::parse::<u16>);
    match numbers.collect::<Result<Vec<_>, _>>().as_deref() {
        Ok([0, x, y]) => Key::Click(x.saturating_sub(1), y.saturating_sub(1)),
        Ok([64, x, y]) => Key::WheelUp(x.saturating_sub(1), y.saturating_sub(1)),
        Ok([65, x, y]) => Key::WheelDown(x.saturating_sub(1), y.saturating_sub(1)),
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        take(&mut bytes.to_vec(), true)
    }

    #[test]
    fn each_sequence_is_its_key() {
        let cases: [(&[u8], Key); 21] = [
            (b"j", Key::Char('j')),
            ("é".as_bytes(), Key::Char('é')),
            ("狐".as_bytes(), Key::Char('狐')),
            ("👩".as_bytes(), Key::Char('👩')),
            (b"\r", Key::Enter),
            (b"\x7f", Key::Backspace),
            (b"\x1a", Key::Ctrl('z')),
            (b"\x1b", Key::Esc),
            (b"\x1b[A", Key::Up),
            (b"\x1bOB", Key::Down),
            (b"\x1b[1;5A", Key::Up),
            (b"\x1b[5~", Key::PageUp),
            (b"\x1b[6~", Key::PageDown),
            (b"\x1b[H", Key::Home),
            (b"\x1b[4~", Key::End),
            (b"\x1b[<0;3;4M", Key::Click(2, 3)),
            (b"\x1b[<0;3;4m", Key::Other),
            (b"\x1b[<64;1;1M", Key::WheelUp(0, 0)),
            (b"\x1b[<65;0;0M", Key::WheelDown(0, 0)),
            (b"\x1b[200~q\x1b[A\x1b[201~", Key::Paste("q\x1b[A".into())),
            (b"\xff", Key::Other),
        ];
        for (bytes, key) in cases {
            assert_eq!(keys(bytes), [key], "{bytes:?}");
        }
        assert_eq!(keys(b"\x1b\x1bx"), [Key::Esc, Key::Esc, Key::Char('x')]);
    }

    /// Wherever the bytes are cut, the keys are the same, whether the rest comes at once or after a while. Only a lone
    /// escape cannot wait.
    #[test]
    fn a_sequence_may_come_in_parts() {
        let bytes = "k\x1b[5~é\x1b[<65;10;20M\x1b[200~paste\x1b[201~狐".as_bytes();
        let whole = keys(bytes);
        for at in 0..bytes.len() {
            for after_a_while in [false, true] {
                let mut held = bytes[..at].to_vec();
                let mut all = take(&mut held, false);
                if after_a_while && held != [0x1b] {
                    assert_eq!(take(&mut held, true), [], "{at}");
                }
                held.extend(&bytes[at..]);
                all.extend(take(&mut held, true));
                assert_eq!((all, held.len()), (whole.clone(), 0), "{at}");
            }
        }
    }

    /// Its end is lost if the connection broke, and keys must work again some time.
    #[test]
    fn a_paste_without_end_is_ended() {
        let mut held = b"\x1b[200~half".to_vec();
        assert_eq!(take(&mut held, true), []);
        assert!(is_in_paste(&held));
        end_paste(&mut held);
        held.extend(b"q");
        assert_eq!(
            take(&mut held, true),
            [Key::Paste("half".into()), Key::Char('q')]
        );
        assert!(!is_in_paste(&held));
        // However long it is, only so much is held, and its end is found.
        let mut held = PASTE_START.to_vec();
        for _ in 0..40 {
            held.extend(vec![b'x'; 100_000]);
            held.extend(&PASTE_END[..3]);
            assert_eq!(take(&mut held, false), []);
            assert!(
                is_in_paste(&held) && held.len() <= LONGEST_PASTE,
                "{}",
                held.len()
            );
        }
        held.extend(&PASTE_END[3..]);
        held.extend(b"q");
        let keys = take(&mut held, false);
        assert!(
            matches!(&keys[..], [Key::Paste(_), Key::Char('q')]),
            "{}",
            keys.len()
        );
    }

    #[test]
    fn no_bytes_do_harm() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                for end in [&b""[..], b"[", b"[<", b"[<1;2", b"\x1b", b";;;M"] {
                    let mut bytes = [&[first, second], end].concat();
                    take(&mut bytes, true);
                    // Whatever is there, the next key is read.
                    bytes.extend(b"~q");
                    assert_eq!(take(&mut bytes, true).last(), Some(&Key::Char('q')));
                }
            }
        }
    }
}
