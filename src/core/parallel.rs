//! Work on many files in a few threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::progress::Progress;
use session_format::cursor::Buffer;

/// Works on all of them in a few threads, each with one buffer to read into. The results are in the order of the items,
/// each of which has a size, by which the user is told how far it is.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    progress: &Progress,
    size: impl Fn(&T) -> u64 + Sync,
    work: impl Fn(&T, &mut Buffer) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(items.len())
        .min(8);
    let work = |is_first: bool| {
        let mut buffer = Buffer::default();
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let done = indices.map_while(|index| {
            let item = items.get(index)?;
            let done = work(item, &mut buffer);
            progress.add(size(item));
            if is_first {
                progress.show();
            }
            Some((index, done))
        });
        done.collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        // Where no more threads can start, fewer do all the work.
        let start = |_| {
            std::thread::Builder::new()
                .spawn_scoped(scope, || work(false))
                .ok()
        };
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let own = work(true);
        let others = others
            .into_iter()
            .flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        own.into_iter().chain(others).collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
