//! Paths as texts: which of them are one file, what a file is called, and how a shell takes a word.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::boundary::substr;
/// The longest path that any system allows.
const PATH_BYTES: usize = 4096;
/// Deeper than any real directory. Each part on the way up is asked for, and the longer the path the longer each takes.
const DEEPEST: usize = 256;

/// Whether a text is too long to be the path of a directory. Whoever says that a session is there must not make us try each
/// of its parts.
pub fn is_too_long(path: impl AsRef<OsStr>) -> bool {
    let path = path.as_ref().as_encoded_bytes();
    path.len() > PATH_BYTES || memchr::memchr_iter(b'/', path).count() > DEEPEST
}

/// A directory that a shell or an agent may be sent to: one that is named from the root on. Any other leads somewhere else from
/// everywhere, and `-` is where a shell was before.
pub fn destination(dir: &str) -> Option<&Path> {
    Some(Path::new(dir)).filter(|dir| dir.is_absolute())
}

/// A path as it is from the root, without `.` and `..`.
pub fn absolute(cwd: &Path, path: &str) -> PathBuf {
    // An address is no path, and must stay what it is.
    if path.contains("://") {
        return path.into();
    }
    let mut whole = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

/// The last part of a path, whoever wrote it: `auth.rs` of `src/auth.rs` and of `src\auth.rs`.
pub fn base_name(path: &str) -> &str {
    path.bytes()
        .rposition(|byte| matches!(byte, b'/' | b'\\'))
        .map_or(path, |slash| substr(path, slash + 1..))
}

/// A word for a POSIX shell.
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A path for a POSIX shell; `~` stays what it is.
pub fn shell_path(path: &str) -> String {
    path.strip_prefix("~/").map_or_else(
        || shell_word(path),
        |below| format!("~/{}", shell_word(below)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_path() {
        for (path, name) in [
            ("src/auth.rs", "auth.rs"),
            ("C:\\x\\y.rs", "y.rs"),
            ("Makefile", "Makefile"),
            ("a/", ""),
            ("", ""),
        ] {
            assert_eq!(base_name(path), name, "{path}");
        }
    }

    #[test]
    fn a_shell_reads_back_what_was_written() {
        for (word, quoted) in [
            ("/a/b-1.2_x", "/a/b-1.2_x"),
            ("", "''"),
            ("a b", "'a b'"),
            ("~/x", "'~/x'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
        for (path, quoted) in [("~/x", "~/x"), ("~/a b", "~/'a b'"), ("/a b", "'/a b'")] {
            assert_eq!(shell_path(path), quoted);
        }
    }
}
