//! A small set of what letters stand together in a text, which tells most texts that cannot hold a word.
//!
//! Three bytes in a row are one bit (a Bloom filter with one hash), and so are the first two of a word and the last two. A text that has all bits of a word may hold it; one
//! that lacks a bit does not. A set is as small as it can be while three quarters of it are empty: about 2 KB for what is
//! said in a session, which is a tenth of that.

use std::sync::Arc;

/// The largest set and the smallest, in bytes. Of a very long text, the largest says little.
const LARGEST: usize = 8 << 10;
const SMALLEST: usize = 8;
/// Bytes that are one bit together.
const TOGETHER: usize = 3;
/// Stands for whatever is before or after a word.
const EDGE: u8 = 0;
/// Once more, before a word: of one with two letters, nothing else is known.
const BEGIN: u8 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Arc<[u8]>);

impl Signature {
    /// Of texts that come one after another.
    pub fn of(texts: &[&[u8]]) -> Signature {
        let mut set = vec![0; LARGEST];
        let mut add = |three: [u8; TOGETHER]| {
            let (byte, bit) = place(three, LARGEST);
            set[byte] |= bit;
        };
        for text in texts {
            if let Some([first, second]) = text.first_chunk() {
                add([EDGE, *first, *second]);
                add([BEGIN, *first, *second]);
            }
            if let Some([before, last]) = text.last_chunk() {
                add([*before, *last, EDGE]);
            }
            for [a, b, c] in threes(text) {
                add([a, b, c]);
                // Other scripts have their own letters, any of which may begin or end a word as far as is known here.
                if !a.is_ascii_alphanumeric() {
                    add([EDGE, b, c]);
                    add([BEGIN, b, c]);
                }
                if !c.is_ascii_alphanumeric() {
                    add([a, b, EDGE]);
                }
            }
        }
        while set.len() > SMALLEST {
            let (left, right) = set.split_at(set.len() / 2);
            let half: Vec<u8> = left.iter().zip(right).map(|(a, b)| a | b).collect();
            let full: usize = half.iter().map(|byte| byte.count_ones() as usize).sum();
            if 4 * full > 8 * half.len() {
                break;
            }
            set = half;
        }
        Signature(set.into())
    }

    /// One that was written by [`Signature::bytes`].
    pub fn read(bytes: &[u8]) -> Option<Signature> {
        let fits = bytes.len().is_power_of_two() && (SMALLEST..=LARGEST).contains(&bytes.len());
        fits.then(|| Signature(bytes.into()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// False if the text does not have these bytes. Of fewer than three nothing is known.
    pub fn may_hold(&self, word: &[u8]) -> bool {
        threes(word).all(|three| self.has(three))
    }

    /// False if no word of the text begins with these bytes.
    pub fn may_begin(&self, word: &[u8]) -> bool {
        self.may_hold(word)
            && word
                .first_chunk()
                .is_none_or(|[a, b]| self.has([EDGE, *a, *b]) && self.has([BEGIN, *a, *b]))
    }

    /// False if no word of the text ends with these bytes.
    pub fn may_end(&self, word: &[u8]) -> bool {
        self.may_hold(word)
            && word
                .last_chunk()
                .is_none_or(|[a, b]| self.has([*a, *b, EDGE]))
    }

    /// False if no word of the text is this one with one wrong letter: one too many, one too few, another one, or two that
    /// changed places.
    pub fn may_hold_like(&self, word: &[u8]) -> bool {
        let edges = [&[EDGE], word, &[EDGE]].concat();
        let has: Vec<bool> = threes(&edges).map(|three| self.has(three)).collect();
        // Another letter, or one too few, changes only what it is a part of.
        let first = has.iter().position(|has| !has).unwrap_or(0);
        let last = has.iter().rposition(|has| !has).unwrap_or(0);
        if last - first < TOGETHER {
            return true;
        }
        let whole = |word: &[u8]| self.may_begin(word) && self.may_end(word);
        let mut other = word.to_vec();
        (0..word.len()).any(|at| {
            let swapped = at > 0 && {
                other.swap(at - 1, at);
                let whole = whole(&other);
                other.swap(at - 1, at);
                whole
            };
            swapped || whole(&[&word[..at], &word[at + 1..]].concat())
        })
    }

    fn has(&self, three: [u8; TOGETHER]) -> bool {
        let (byte, bit) = place(three, self.0.len());
        self.0[byte] & bit != 0
    }
}

fn threes(bytes: &[u8]) -> impl Iterator<Item = [u8; TOGETHER]> {
    bytes
        .windows(TOGETHER)
        .map(|three| [three[0], three[1], three[2]])
}

/// The byte and the bit of three bytes in a set of some size. In one of half the size, what is in the two halves of the
/// larger one is in the same place.
fn place([a, b, c]: [u8; TOGETHER], size: usize) -> (usize, u8) {
    let number = u32::from_le_bytes([a, b, c, 0]);
    let hash = (number.wrapping_mul(0x9e37_79b1) >> 13) as usize;
    ((hash >> 3) & (size - 1), 1 << (hash & 7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_has_is_never_denied_and_other_words_mostly_are() {
        let words = |from: u32, to: u32| {
            (from..to).map(|number| format!("w{:x}", number.wrapping_mul(2_654_435_761)))
        };
        for count in [0, 1, 30, 300, 3000] {
            let text = words(0, count).collect::<Vec<_>>().join(" ");
            let (one, other) = text.split_at(text.len() / 2);
            let signature = Signature::of(&[text.as_bytes()]);
            assert!(words(0, count).all(|word| signature.may_hold(word.as_bytes())));
            assert!(signature.may_hold(b"zz"), "too short to tell");
            assert!(!signature.may_begin(b"zz") && !signature.may_end(b"zz"));
            for word in words(0, count) {
                let (begin, end) = word.split_at(2);
                assert!(signature.may_begin(begin.as_bytes()) && signature.may_end(end.as_bytes()));
            }
            let halves = Signature::of(&[one.as_bytes(), other.as_bytes()]);
            assert!(halves.may_hold(one.as_bytes()) && halves.may_hold(other.as_bytes()));
            assert_eq!(
                Signature::read(signature.bytes()).as_ref(),
                Some(&signature)
            );
            let wrong = (0..1000)
                .map(|number| format!("lighthouse{number}"))
                .filter(|word| signature.may_hold(word.as_bytes()));
            assert!(wrong.count() < 10, "{count}");
        }
        let signature = Signature::of(&[b"the lighthouse, there"]);
        for like in [
            "lighthouse",
            "lighthuose",
            "ilghthouse",
            "lighthoues",
            "lihthouse",
            "lightxouse",
            "lighthousex",
            "xlighthouse",
            "ighthouse",
            "lighthous",
            "ligghthouse",
            "tehre",
            "thare",
        ] {
            assert!(signature.may_hold_like(like.as_bytes()), "{like}");
        }
        for other in ["lixxthouse", "lighthose2", "zzqqy", "throe"] {
            assert!(!signature.may_hold_like(other.as_bytes()), "{other}");
        }
        for damaged in [&[][..], &[0; 7], &[0; 24], &[0; 2 * LARGEST]] {
            assert_eq!(Signature::read(damaged), None);
        }
    }
}
