//! All bytes of a file in large pieces, for whoever looks for something that may be anywhere.

use std::fs::File;
use std::io;

use super::{Buffer, read_all};

/// The bytes of a file, piece by piece; each begins with the last few of the one before, so that nothing short is cut in two.
pub struct Chunks<'f> {
    file: &'f File,
    buffer: &'f mut Buffer,
    start: u64,
    position: u64,
}

impl<'f> Chunks<'f> {
    const SIZE: usize = 128 * 1024;
    /// Reads go to the second half, where lines are read to as well, so the memory is there already. What is kept stands
    /// right before it.
    const START: usize = Chunks::SIZE;
    const KEPT: usize = 1024;

    pub fn new(file: &'f File, start: u64, buffer: &'f mut Buffer) -> Chunks<'f> {
        buffer.resize(Chunks::START + Chunks::SIZE);
        Chunks {
            file,
            buffer,
            start,
            position: start,
        }
    }

    /// The next chunk; none at the end of the file.
    pub fn next_chunk(&mut self) -> io::Result<Option<&[u8]>> {
        let bytes = self.buffer.bytes_mut();
        let kept = if self.position == self.start {
            0
        } else {
            Chunks::KEPT
        };
        bytes.copy_within(
            Chunks::START + Chunks::SIZE - kept..Chunks::START + Chunks::SIZE,
            Chunks::START - kept,
        );
        // A short read would leave what is kept for the next one elsewhere.
        let filled = read_all(
            self.file,
            &mut bytes[Chunks::START..Chunks::START + Chunks::SIZE],
            self.position,
        )?;
        self.position += filled as u64;
        Ok(
            (filled > 0)
                .then(|| &self.buffer.bytes()[Chunks::START - kept..Chunks::START + filled]),
        )
    }
}
