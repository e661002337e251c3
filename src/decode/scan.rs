//! The one loop that sees every byte of a transcript: finding a quote.

/// The place of the first `"`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn quote(bytes: &[u8]) -> Option<usize> {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};
    let mut at = 0;
    // SAFETY: SSE2 is part of x86-64, and every load stays within a chunk of `bytes`.
    unsafe {
        let quotes = _mm_set1_epi8(b'"' as i8);
        let equal = |at: usize| _mm_cmpeq_epi8(_mm_loadu_si128(bytes.as_ptr().add(at).cast::<__m128i>()), quotes);
        // Most strings are short: look at 16 bytes before setting out for more.
        if bytes.len() >= 16 {
            let mask = _mm_movemask_epi8(equal(0));
            if mask != 0 {
                return Some(mask.trailing_zeros() as usize);
            }
            at = 16;
        }
        while at + 64 <= bytes.len() {
            let four = [equal(at), equal(at + 16), equal(at + 32), equal(at + 48)];
            let any = _mm_or_si128(_mm_or_si128(four[0], four[1]), _mm_or_si128(four[2], four[3]));
            if _mm_movemask_epi8(any) != 0 {
                let mask = four.iter().rev().fold(0u64, |mask, part| mask << 16 | _mm_movemask_epi8(*part) as u64);
                return Some(at + mask.trailing_zeros() as usize);
            }
            at += 64;
        }
    }
    bytes[at..].iter().position(|byte| *byte == b'"').map(|found| at + found)
}

/// The place of the first `"`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn quote(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'"', bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_the_first_quote_at_every_place_and_length() {
        for length in 0..200 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(super::quote(&bytes), None);
            for at in (0..length).rev() {
                bytes[at] = b'"';
                assert_eq!(super::quote(&bytes), Some(at));
            }
        }
    }
}
