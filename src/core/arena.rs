//! Memory for a program that ends soon: handed out from one block, one piece after the other.
//!
//! A hook runs for a millisecond, and a tenth of that would be spent on looking for free memory and giving it back. Here a
//! piece costs one addition, and only the last one can be given back. Large pieces, and all that no longer fit, come
//! from the system's allocator, so a long run takes no more than this one block in addition.
//!
//! Pages of the block that nobody uses cost nothing. Those that a look with news needs cost less than the calls by which musl
//! would ask for as much memory and give it back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much there is: a little more than a look with news takes.
const SIZE: usize = 1 << 20;
/// Larger pieces are given back to the system when they are done with.
const LARGEST: usize = 64 << 10;

/// An allocator that is made for programs that end soon.
#[repr(C, align(4096))]
pub struct Arena {
    /// The first field, so that it is aligned as a whole.
    block: UnsafeCell<[u8; SIZE]>,
    /// Where the free part begins.
    free: AtomicUsize,
}

// SAFETY: the block is never read or written here, and `free` hands each part of it to one caller only.
unsafe impl Sync for Arena {}

impl Arena {
    #[allow(clippy::new_without_default, clippy::large_stack_arrays)] // It is made for a static.
    pub const fn new() -> Arena {
        Arena {
            block: UnsafeCell::new([0; SIZE]),
            free: AtomicUsize::new(0),
        }
    }

    /// Takes the pages that every run needs from the system in one go: one by one, each would cost as much as a call of `stat`.
    /// Where the system cannot do that, they come one by one.
    pub fn warm(&self) {
        #[cfg(target_os = "linux")]
        {
            const USUAL: usize = 128 << 10;
            // SAFETY: it is inside the block, and what is in there stays.
            unsafe { libc::madvise(self.block.get().cast(), USUAL, libc::MADV_POPULATE_WRITE) };
        }
    }

    /// Where a piece is in the block; none if it is the system's.
    fn place(&self, piece: *mut u8) -> Option<usize> {
        (piece as usize)
            .checked_sub(self.block.get() as usize)
            .filter(|place| *place < SIZE)
    }

    /// Moves the end of the last piece. False if it is not the last any more, or the block is full.
    fn move_end(&self, from: usize, to: usize) -> bool {
        to <= SIZE
            && self
                .free
                .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }
}

// SAFETY: a piece lies in the block and nobody else has a part of it, or it is the system's.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        while layout.size() <= LARGEST && layout.align() <= align_of::<Arena>() {
            let free = self.free.load(Ordering::Relaxed);
            let start = free.next_multiple_of(layout.align());
            if start + layout.size() > SIZE {
                break;
            }
            if self.move_end(free, start + layout.size()) {
                // SAFETY: it is inside the block.
                return unsafe { self.block.get().cast::<u8>().add(start) };
            }
        }
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised. A page that the system gives is empty already.
        unsafe {
            if layout.size() > LARGEST {
                return System.alloc_zeroed(layout);
            }
            let piece = self.alloc(layout);
            if !piece.is_null() {
                piece.write_bytes(0, layout.size());
            }
            piece
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match self.place(piece) {
            Some(start) => _ = self.move_end(start + layout.size(), start),
            // SAFETY: as the caller promised.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(start) = self.place(piece) else {
            // SAFETY: as the caller promised.
            return unsafe { System.realloc(piece, layout, size) };
        };
        let end = start + layout.size();
        if size <= LARGEST && self.move_end(end, start + size) || size <= layout.size() {
            return piece;
        }
        // SAFETY: the caller promised that the new size is sound, and both pieces are as long as what is copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                piece.copy_to_nonoverlapping(new, layout.size());
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two pieces share a byte, whatever was given back, moved or asked for too much in between, by several threads.
    #[test]
    fn pieces_are_apart_and_keep_what_is_in_them() {
        static ARENA: Arena = Arena::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let started = std::thread::Builder::new()
                    .spawn_scoped(scope, move || use_pieces(&ARENA, thread));
                started.expect("a thread");
            }
        });
    }

    fn use_pieces(arena: &Arena, thread: usize) {
        let layout =
            |size: usize, align: usize| Layout::from_size_align(size, align).expect("a layout");
        let mut pieces: Vec<(*mut u8, Layout, u8)> = Vec::new();
        // SAFETY: each piece is as long as its layout says, and is given back once, with that layout.
        unsafe {
            for round in (0..4000_usize).map(|round| round * 4 + thread) {
                let (size, align) = (1 + round * 7919 % 200, 1 << (round % 7));
                match round / 4 % 5 {
                    0 if !pieces.is_empty() => {
                        let (piece, layout, mark) = pieces.swap_remove(round * 31 % pieces.len());
                        check(piece, layout.size(), mark);
                        arena.dealloc(piece, layout);
                    }
                    1 if !pieces.is_empty() => {
                        let at = round * 17 % pieces.len();
                        let (piece, old, mark) = pieces[at];
                        let size = if round % 50 == 1 {
                            LARGEST + size
                        } else {
                            size
                        };
                        let moved = arena.realloc(piece, old, size);
                        check(moved, old.size().min(size), mark);
                        moved.write_bytes(mark, size);
                        pieces[at] = (moved, layout(size, old.align()), mark);
                    }
                    _ => {
                        let zeroed = arena.alloc_zeroed(layout(size, align));
                        assert!((zeroed as usize).is_multiple_of(align));
                        check(zeroed, size, 0);
                        zeroed.write_bytes(round as u8, size);
                        pieces.push((zeroed, layout(size, align), round as u8));
                    }
                }
            }
            for (piece, layout, mark) in pieces {
                check(piece, layout.size(), mark);
                arena.dealloc(piece, layout);
            }
        }
    }

    /// # Safety
    /// `piece` must be valid for reads of `size` bytes.
    unsafe fn check(piece: *const u8, size: usize, mark: u8) {
        // SAFETY: as the caller promised.
        let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
        assert!(
            bytes.iter().all(|byte| *byte == mark),
            "{bytes:?} are not all {mark}"
        );
    }
}
