//! Ids of sessions: what may be one, and how much of one must be shown to tell it from all others.
//!
//! An id is shortened against all ids of its agent, so make one [`Shortener`] for several of them.

use super::find;
use crate::env::Env;
use crate::file::Unreadable;
use crate::formats::AgentFormat;
use session_format::boundary::substr;

pub use crate::state::notes::is_same;

/// True if a text from inside a transcript may be the id of a session: what is no plain word is taken for none, nor is what
/// a command would take for an option. Only an id is put into commands, names of files and the clipboard.
pub fn is_id(text: &str) -> bool {
    const LONGEST_ID: usize = 128;
    (1..=LONGEST_ID).contains(&text.len())
        && !text.starts_with('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// The error for an id that is none, after "the id".
pub const NO_ID: &str = "has other characters than letters, digits, '-', '_' and '.', or begins with '-', or is too long";

/// The id of the session that a program runs in, if its agent tells it.
pub fn asking(format: &AgentFormat, env: &Env) -> Option<String> {
    if let Some((name, id)) = &env.asking {
        return (*name == format.name).then(|| id.clone());
    }
    format
        .hook()?
        .env
        .iter()
        .find_map(|name| Some(env.var(name)?.to_string_lossy().into_owned()))
}

/// Shortens an id: to eight characters, or as many parts as tell it from all others that begin alike. Ids
/// that begin with the time are alike for a minute.
fn short_id(id: &str, shared: usize) -> &str {
    let shared = id.floor_char_boundary(shared);
    let length = if shared < 8 {
        8
    } else {
        substr(id, shared..)
            .find('-')
            .map_or(id.len(), |dash| shared + dash)
    };
    substr(id, ..id.ceil_char_boundary(length.min(id.len())))
}

/// The length of the beginning that two ids share.
fn shared_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Finds out how many bytes of each id tell it from all others of these; all of it if two sessions have it.
pub fn shortened<T>(all: &mut [T], id: impl Fn(&T) -> &str, mut set: impl FnMut(&mut T, usize)) {
    // Most ids differ in their first bytes, which are compared as one number.
    let start = |id: &str| {
        let mut bytes = [0; 8];
        let length = id.len().min(8);
        bytes[..length].copy_from_slice(&id.as_bytes()[..length]);
        u64::from_be_bytes(bytes)
    };
    let mut order: Vec<(u64, usize)> = all
        .iter()
        .enumerate()
        .map(|(index, one)| (start(id(one)), index))
        .collect();
    order.sort_unstable_by(|(a, one), (b, other)| {
        a.cmp(b).then_with(|| id(&all[*one]).cmp(id(&all[*other])))
    });
    for (at, (begins, index)) in order.iter().enumerate() {
        let own = id(&all[*index]);
        let near = at
            .checked_sub(1)
            .into_iter()
            .chain([at + 1])
            .filter_map(|near| order.get(near));
        // Eight bytes are shown at least.
        let shared = near.map(|(other, near)| {
            if begins == other {
                shared_start(own, id(&all[*near]))
            } else {
                0
            }
        });
        let length = short_id(own, shared.max().unwrap_or(0)).len();
        set(&mut all[*index], length);
    }
}

/// All ids that an id could be taken for, in order: its neighbours are the ones most like it.
#[derive(Debug, Default)]
pub struct Shortener(Vec<String>);

impl Shortener {
    pub fn new(ids: impl IntoIterator<Item = String>) -> Shortener {
        let mut ids: Vec<String> = ids.into_iter().collect();
        ids.sort_unstable();
        Shortener(ids)
    }

    /// The ids in the names of all files of some formats.
    pub fn of_files(formats: &[AgentFormat], env: &Env, bad: &mut Vec<Unreadable>) -> Shortener {
        let mut ids = Vec::new();
        find::each(formats, env, bad, &mut |file, _| {
            ids.extend(file.id.map(str::to_owned));
        });
        let mut all = Shortener::new(ids);
        // Two patterns may reach one file.
        all.0.dedup();
        all
    }

    /// As much of an id as tells it from all others; all of it if two sessions have it.
    pub fn short<'i>(&self, id: &'i str) -> &'i str {
        let after = self.0.partition_point(|other| other.as_str() <= id);
        let before = self.0.partition_point(|other| other.as_str() < id);
        if after - before > 1 {
            return id;
        }
        let near = before
            .checked_sub(1)
            .into_iter()
            .chain([after])
            .filter_map(|near| self.0.get(near));
        short_id(
            id,
            near.map(|other| shared_start(id, other)).max().unwrap_or(0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_as_short_as_tells_it_from_all_others() {
        let ids = [
            "11111111-a-x",
            "11111111-b-x",
            "2",
            "22222222-a",
            "33333333-a-x",
            "33333333-a-y",
        ];
        let all = Shortener::new(ids.map(str::to_owned));
        let short = [
            "11111111-a",
            "11111111-b",
            "2",
            "22222222",
            "33333333-a-x",
            "33333333-a-y",
        ];
        assert_eq!(ids.map(|id| all.short(id)), short);
        let of_two = [&ids[..], &["22222222-a"]].concat();
        let short_of_two = [&short[..3], &["22222222-a"], &short[4..], &["22222222-a"]].concat();
        let mut lengths: Vec<_> = of_two.iter().map(|id| (*id, 0)).collect();
        shortened(
            &mut lengths,
            |(id, _)| id,
            |(_, length), found| *length = found,
        );
        assert_eq!(
            lengths
                .iter()
                .map(|(id, length)| substr(id, ..*length))
                .collect::<Vec<_>>(),
            short_of_two
        );
        // One that is not among them, and no others at all.
        assert_eq!(
            ["33333333-b", "44444444-a"].map(|id| all.short(id)),
            ["33333333-b", "44444444"]
        );
        assert_eq!(Shortener::default().short("11111111-a-x"), "11111111");
    }

    /// The same as comparing with every other id.
    #[test]
    fn neighbours_are_enough() {
        let ids: std::collections::BTreeSet<String> = (0..200u32)
            .map(|number| {
                let mixed = number.wrapping_mul(0x9e37_79b9) >> 16;
                format!("{:08b}-{:02b}-{}", mixed % 5, mixed % 3, mixed % 7)
            })
            .collect();
        let all = Shortener::new(ids.iter().cloned());
        for id in &ids {
            let shared = ids
                .iter()
                .filter(|other| *other != id)
                .map(|other| shared_start(id, other))
                .max();
            assert_eq!(all.short(id), short_id(id, shared.unwrap_or(0)), "{id}");
        }
    }
}
