//! A text that is written before its head is known: in memory, and from some size on in a file that has no name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use session_core::env::Env;

/// More than that is not kept in memory.
const MOST: usize = 4 << 20;

pub struct Spool<'e> {
    env: &'e Env,
    memory: Vec<u8>,
    file: Option<File>,
    /// What went wrong first. Nothing is written after it.
    error: Option<io::Error>,
    pub length: u64,
}

impl Spool<'_> {
    pub fn new(env: &Env) -> Spool<'_> {
        Spool {
            env,
            memory: Vec::new(),
            file: None,
            error: None,
            length: 0,
        }
    }

    pub fn push(&mut self, text: &str) {
        self.memory.extend_from_slice(text.as_bytes());
        self.length += text.len() as u64;
        if self.memory.len() > MOST && self.error.is_none() {
            self.error = self.move_to_file().err();
            self.memory.clear();
        }
    }

    fn move_to_file(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(unnamed(self.env)?);
        }
        self.file
            .as_mut()
            .map_or(Ok(()), |file| file.write_all(&self.memory))
    }

    /// Writes out all of it.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(file) = &mut self.file {
            file.rewind()?;
            io::copy(file, out)?;
        }
        out.write_all(&self.memory)
    }
}

/// A new file that nobody else can open.
fn unnamed(env: &Env) -> io::Result<File> {
    let dir = env.temporary_dir("session-reader-export")?;
    let path = dir.join("body");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir(&dir);
    file
}
