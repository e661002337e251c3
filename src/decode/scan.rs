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
            return (backslashes & (quotes - 1) & !quotes == 0).then(|| at + quotes.trailing_zeros() as usize);
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
        let Some(chunk) = bytes.get(at..at + CHUNK).and_then(|chunk| chunk.first_chunk()) else { break };
        if let Some(end) = end_among(bytes, start, at, u64::from(bits(chunk, b'"'))) {
            return Some(end);
        }
        at += CHUNK;
    }
    long_string(bytes, start, at)
}

/// Strides of four chunks, then the last bytes one by one. Tools print code, and code is full of quotes: as long as
/// backslashes stand alone, all escaped quotes of a stride are told by one shift.
fn long_string(bytes: &[u8], start: usize, mut at: usize) -> Option<usize> {
    while let Some(stride) = bytes.get(at..at + STRIDE).and_then(|stride| stride.first_chunk::<STRIDE>()) {
        let quotes = bits_in_stride(stride, b'"');
        if quotes != 0 {
            let backslashes = bits_in_stride(stride, b'\\');
            let escaped = backslashes << 1;
            let alone = backslashes & escaped == 0 && (at == start || bytes[at - 1] != b'\\');
            let end = match quotes & !escaped {
                0 if alone => None,
                ends if alone => Some(at + ends.trailing_zeros() as usize + 1),
                _ => end_among(bytes, start, at, quotes),
            };
            if end.is_some() {
                return end;
            }
        }
        at += STRIDE;
    }
    let rest = bytes.get(at..)?.iter().enumerate().filter(|(_, byte)| **byte == b'"');
    rest.map(|(found, _)| at + found).find(|quote| !is_escaped(bytes, start, *quote)).map(|quote| quote + 1)
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

/// Steps over an object or an array by counting brackets outside strings.
pub fn container(bytes: &[u8], start: usize) -> Option<usize> {
    rest(bytes, start + 1)
}

/// Steps to the end of the object or array that a place is in.
pub fn rest(bytes: &[u8], start: usize) -> Option<usize> {
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

/// Whether an odd number of backslashes stands before a place.
#[inline]
fn is_escaped(bytes: &[u8], start: usize, place: usize) -> bool {
    place > start && bytes[place - 1] == b'\\' && {
        let run = bytes[start..place].iter().rev().take_while(|byte| **byte == b'\\').count();
        run % 2 == 1
    }
}

const CHUNK: usize = 16;
const STRIDE: usize = 4 * CHUNK;

/// A bit for each place where a byte stands.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bits(chunk: &[u8; CHUNK], byte: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64, and the load is of the whole chunk.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32
    }
}

/// The same in four chunks. Most strides have no quote, which one test tells.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
fn bits_in_stride(stride: &[u8; STRIDE], byte: u8) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64, and the four loads are of the whole stride.
    unsafe {
        let byte = _mm_set1_epi8(byte as i8);
        let found = |index: usize| _mm_cmpeq_epi8(_mm_loadu_si128(stride.as_ptr().cast::<__m128i>().add(index)), byte);
        let all = [found(0), found(1), found(2), found(3)];
        if _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(all[0], all[1]), _mm_or_si128(all[2], all[3]))) == 0 {
            return 0;
        }
        all.iter().rev().fold(0, |bits, part| bits << CHUNK | _mm_movemask_epi8(*part) as u64)
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bits(chunk: &[u8; CHUNK], byte: u8) -> u32 {
    chunk.iter().rev().fold(0, |bits, one| bits << 1 | u32::from(*one == byte))
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
#[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
fn bits_in_stride(stride: &[u8; STRIDE], byte: u8) -> u64 {
    stride.iter().rev().fold(0, |bits, one| bits << 1 | u64::from(*one == byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader that looks at one byte after the other says.
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
                    assert_eq!(string(&changed, 0), slow(&changed, 0), "{}", String::from_utf8_lossy(&changed));
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
            assert_eq!(string(&bytes, 0), slow(&bytes, 0), "{}", String::from_utf8_lossy(&bytes));
        }
    }
}
