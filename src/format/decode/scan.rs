//! The loops that see every byte of a transcript: stepping over strings, objects and arrays that nobody wants.
//!
//! They work on what is in memory and give up at its end; the walker then goes on piece by piece.

/// The length of a key, up to its closing quote; none if it is long, cut off or written with escapes.
#[inline]
pub fn key(bytes: &[u8]) -> Option<usize> {
    for at in [0, CHUNK] {
        let chunk = bytes.get(at..at + CHUNK)?.first_chunk()?;
        let (quotes, backslashes) = (bits(chunk, b'"'), bits(chunk, b'\\'));
        if quotes != 0 {
            return (backslashes & (quotes - 1) & !quotes == 0)
                .then(|| at + quotes.trailing_zeros() as usize);
        }
        if backslashes != 0 {
            return None;
        }
    }
    None
}

/// Steps over a string: from the byte after its opening quote to the byte after its closing one.
///
/// Only quotes are looked for. Whether one is escaped is told by the backslashes before it, which is cheaper than
/// stopping at every `\n` of a tool's output.
#[inline]
pub fn string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // Most strings end within the first chunks.
    for _ in 0..3 {
        let Some(chunk) = bytes
            .get(at..at + CHUNK)
            .and_then(|chunk| chunk.first_chunk())
        else {
            break;
        };
        if let Some(end) = end_among(bytes, start, at, u64::from(bits(chunk, b'"'))) {
            return Some(end);
        }
        at += CHUNK;
    }
    long_string(bytes, start, at)
}

/// As fast as the CPU can.
fn long_string(bytes: &[u8], start: usize, at: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    // To ask the CPU takes longer than to read the few bytes that a hook is given.
    if bytes.len() > 4096 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { avx2::long_string(bytes, start, at) };
    }
    strides(bytes, start, at, ends_in_stride)
}

/// Strides of four chunks, then the last bytes one by one. Tools print code, and code is full of escaped quotes: those
/// with a single backslash before them, which are nearly all, are told without looking at each.
#[inline(always)]
fn strides(
    bytes: &[u8],
    start: usize,
    mut at: usize,
    ends: impl Fn(&[u8; STRIDE + 2]) -> u64,
) -> Option<usize> {
    if at >= start + 2 {
        while let Some(stride) = bytes
            .get(at - 2..at + STRIDE)
            .and_then(|stride| stride.first_chunk())
        {
            let ends = ends(stride);
            if ends != 0
                && let Some(end) = end_among(bytes, start, at, ends)
            {
                return Some(end);
            }
            at += STRIDE;
        }
    }
    let rest = bytes
        .get(at..)?
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'"');
    rest.map(|(found, _)| at + found)
        .find(|quote| !is_escaped(bytes, start, *quote))
        .map(|quote| quote + 1)
}

/// The end of the string, if one of the quotes found from a place on is not escaped.
#[inline(always)]
fn end_among(bytes: &[u8], start: usize, at: usize, mut quotes: u64) -> Option<usize> {
    while quotes != 0 {
        let quote = at + quotes.trailing_zeros() as usize;
        if !is_escaped(bytes, start, quote) {
            return Some(quote + 1);
        }
        quotes &= quotes - 1;
    }
    None
}

/// Steps over a number; none if there is no digit.
#[inline]
pub fn number(bytes: &[u8], start: usize) -> Option<usize> {
    matches!(bytes.get(start)?, b'-' | b'0'..=b'9').then_some(())?;
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    Some(start + length)
}

/// Steps to the end of the object or array that a place is in, by counting brackets outside strings.
pub fn rest(bytes: &[u8], start: usize) -> Option<usize> {
    rest_with(bytes, start, string)
}

/// The same with another way to step over a string.
#[inline(always)]
pub(crate) fn rest_with(
    bytes: &[u8],
    start: usize,
    string: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    let mut depth = 1usize;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string(bytes, at + 1)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// An odd number of backslashes stands before a place.
#[inline]
fn is_escaped(bytes: &[u8], start: usize, place: usize) -> bool {
    place > start && bytes[place - 1] == b'\\' && {
        let run = bytes[start..place]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        run % 2 == 1
    }
}

pub(crate) const CHUNK: usize = 16;
const STRIDE: usize = 4 * CHUNK;

/// A bit for each place where a byte stands.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn bits(chunk: &[u8; CHUNK], byte: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64, and the load is of the whole chunk.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32
    }
}

/// ASCII without a backslash: as JSON, such bytes say what they are.
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'\\';
    let Some(last) = bytes.last_chunk::<CHUNK>() else {
        return bytes.iter().all(is_plain);
    };
    let others = |chunk| beyond_ascii(chunk) | bits(chunk, b'\\');
    bytes
        .chunks_exact(CHUNK)
        .filter_map(|chunk| chunk.first_chunk())
        .chain([last])
        .all(|chunk| others(chunk) == 0)
}

/// A bit for each byte that is not ASCII.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn beyond_ascii(chunk: &[u8; CHUNK]) -> u32 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: SSE2 is part of x86-64, and the load is of the whole chunk.
    unsafe { _mm_movemask_epi8(_mm_loadu_si128(chunk.as_ptr().cast())) as u32 }
}

/// A bit for each quote that may end a string, in four chunks with two bytes before them: either no backslash stands
/// before it or two do, and then it takes a closer look.
#[inline(always)]
fn ends_in_stride(stride: &[u8; STRIDE + 2]) -> u64 {
    (0..STRIDE / CHUNK).rev().fold(0, |all, index| {
        let found = |before: usize, byte: u8| {
            let start = index * CHUNK + 2 - before;
            stride[start..]
                .first_chunk()
                .map_or(0, |chunk| bits(chunk, byte))
        };
        all << CHUNK | u64::from(found(0, b'"') & !(found(1, b'\\') & !found(2, b'\\')))
    })
}

/// The same for CPUs that take twice as much at once.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
    };

    use super::{STRIDE, end_among, strides};

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn string(bytes: &[u8], start: usize) -> Option<usize> {
        const CHUNK: usize = STRIDE / 2;
        let mut at = start;
        for _ in 0..2 {
            let Some(chunk) = bytes
                .get(at..at + CHUNK)
                .and_then(|chunk| chunk.first_chunk())
            else {
                break;
            };
            let quotes =
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(chunk), _mm256_set1_epi8(b'"' as i8)));
            if let Some(end) = end_among(bytes, start, at, u64::from(quotes as u32)) {
                return Some(end);
            }
            at += CHUNK;
        }
        long_string(bytes, start, at)
    }

    #[target_feature(enable = "avx2")]
    pub(crate) fn long_string(bytes: &[u8], start: usize, at: usize) -> Option<usize> {
        strides(bytes, start, at, |stride| {
            let (low, high) = (ends(stride, 2), ends(stride, 2 + STRIDE / 2));
            match _mm256_movemask_epi8(_mm256_or_si256(low, high)) {
                0 => 0,
                _ => {
                    u64::from(_mm256_movemask_epi8(high) as u32) << 32
                        | u64::from(_mm256_movemask_epi8(low) as u32)
                }
            }
        })
    }

    /// The quotes in the 32 bytes from a place on that may end a string.
    #[target_feature(enable = "avx2")]
    fn ends(stride: &[u8; STRIDE + 2], from: usize) -> __m256i {
        let found = |from: usize, byte: u8| {
            let bytes = stride[from..].first_chunk().unwrap_or(&[0; STRIDE / 2]);
            _mm256_cmpeq_epi8(load(bytes), _mm256_set1_epi8(byte as i8))
        };
        let single = _mm256_andnot_si256(found(from - 2, b'\\'), found(from - 1, b'\\'));
        _mm256_andnot_si256(single, found(from, b'"'))
    }

    #[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; STRIDE / 2]) -> __m256i {
        // SAFETY: the load is of these 32 bytes.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }
}

/// Compares without `memcmp`: most literals are a few dozen or a few hundred bytes, too short for a call of it.
#[inline(always)]
pub fn begins(bytes: &[u8], with: &[u8]) -> bool {
    let Some(bytes) = bytes.get(..with.len()) else {
        return false;
    };
    /// Both begin and end with the same, which is all of them if they are short.
    #[inline(always)]
    fn ends<const N: usize>(bytes: &[u8], with: &[u8]) -> bool {
        bytes.first_chunk::<N>() == with.first_chunk()
            && bytes.last_chunk::<N>() == with.last_chunk()
    }
    match with.len() {
        0..4 => bytes == with,
        4..8 => ends::<4>(bytes, with),
        8..16 => ends::<8>(bytes, with),
        16..32 => ends::<16>(bytes, with),
        _ => {
            let mut chunks = bytes.chunks_exact(32).zip(with.chunks_exact(32));
            bytes.last_chunk::<32>() == with.last_chunk()
                && chunks.all(|(chunk, with)| chunk.first_chunk::<32>() == with.first_chunk())
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use plainly::beyond_ascii;
#[cfg(not(target_arch = "x86_64"))]
pub use plainly::bits;

/// The same for other CPUs.
#[cfg(not(target_arch = "x86_64"))]
mod plainly {
    use super::CHUNK;

    fn each(chunk: &[u8; CHUNK], is: impl Fn(u8) -> bool) -> u32 {
        chunk
            .iter()
            .rev()
            .fold(0, |bits, byte| bits << 1 | u32::from(is(*byte)))
    }

    pub fn bits(chunk: &[u8; CHUNK], byte: u8) -> u32 {
        each(chunk, |one| one == byte)
    }

    pub(crate) fn beyond_ascii(chunk: &[u8; CHUNK]) -> u32 {
        each(chunk, |byte| !byte.is_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of a reader that looks at one byte after the other.
    fn slow(bytes: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    /// Every way to step over a string comes to the same place.
    fn agree(bytes: &[u8]) {
        let wanted = slow(bytes, 0);
        assert_eq!(
            string(bytes, 0),
            wanted,
            "{}",
            String::from_utf8_lossy(bytes)
        );
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has what the function is compiled for.
            assert_eq!(
                unsafe { avx2::string(bytes, 0) },
                wanted,
                "{}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    /// A reader of JSON takes plain text as it stands.
    #[test]
    fn plain_bytes() {
        for length in 0..40 {
            let bytes = vec![b'x'; length];
            assert!(is_plain(&bytes));
            for at in 0..length {
                for byte in [b'\\', 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = byte;
                    assert!(!is_plain(&changed), "{changed:?}");
                }
            }
        }
    }

    #[test]
    fn strings_of_every_length_with_quotes_at_every_place() {
        for length in 0..150 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(string(&bytes, 0), None);
            for at in (0..length).rev() {
                for (byte, before) in [(b'"', 0), (b'"', 1), (b'"', 2), (b'"', 3)] {
                    let mut changed = bytes.clone();
                    changed[at] = byte;
                    changed[at.saturating_sub(before)..at].fill(b'\\');
                    agree(&changed);
                }
                bytes[at] = b'"';
            }
        }
    }

    #[test]
    fn keys() {
        let long = format!("{}\"", "k".repeat(40));
        for (text, length) in [
            ("type\":1,\"and so on until", Some(4)),
            ("\"0123456789abcdef", Some(0)),
            ("a\\u0062c\"56789abcdef", None),
            (long.as_str(), None),
            ("cut", None),
        ] {
            assert_eq!(key(text.as_bytes()), length, "{text}");
        }
        for length in 0..32 {
            let text = format!("{}\"\\{}", "k".repeat(length), "x".repeat(32));
            assert_eq!(key(text.as_bytes()), Some(length));
        }
    }

    #[test]
    fn random_strings() {
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..seed % 200)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"\"\\\\ax\\yz"[(seed >> 60) as usize % 8]
                })
                .collect();
            seed = seed.wrapping_add(7);
            agree(&bytes);
        }
    }
}
