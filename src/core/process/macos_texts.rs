//! What macOS tells, taken apart. No call of the system is made here, so this is tested wherever the tests run.

use session_format::time::{SECOND, Time};

/// The arguments and the variables of a process, each with a zero after it, in what `KERN_PROCARGS2` gives: how many
/// arguments there are, the path of the program, zeros up to a full word, and then all of them in a row. An empty one ends
/// the variables, and what follows is the system's own.
pub fn arguments_and_variables(buffer: &[u8]) -> Option<(&[u8], &[u8])> {
    let (count, texts) = buffer.split_first_chunk()?;
    let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let path = texts.iter().position(|byte| *byte == 0)?;
    let padding = texts[path..].iter().position(|byte| *byte != 0)?;
    let texts = &texts[path + padding..];
    let ends: Vec<usize> = (0..texts.len()).filter(|at| texts[*at] == 0).collect();
    let arguments = match count {
        0 => 0,
        count => ends.get(count - 1)? + 1,
    };
    let is_empty = |end: &&usize| **end == arguments || texts[**end - 1] == 0;
    let after = ends.iter().skip(count);
    let variables = after.clone().find(is_empty).or(after.last());
    let variables = variables.map_or(arguments, |end| *end);
    Some((&texts[..arguments], &texts[arguments..variables]))
}

/// The second since 1970 that `LC_ALL=C TZ=UTC ps -o lstart=` prints: `Mon Nov 16 12:00:00 2026`.
pub fn second(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, month, day, clock, year] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|known| *known == month)? + 1;
    let day: u32 = day.parse().ok()?;
    let time = Time::parse(format!("{year}-{month:02}-{day:02}T{clock}Z").as_bytes())?;
    u64::try_from(time.0 / SECOND).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(count: i32, texts: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes(), texts].concat()
    }

    #[test]
    fn arguments_and_variables_are_told_apart() {
        let both = |count, texts: &[u8]| {
            let buffer = buffer(count, texts);
            let (arguments, variables) = arguments_and_variables(&buffer)?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "|");
            Some((text(arguments), text(variables)))
        };
        let some = |arguments: &str, variables: &str| Some((arguments.into(), variables.into()));
        assert_eq!(
            both(
                2,
                b"/bin/sh\0\0\0\0sh\0-c\0HOME=/Users/me\0TMUX_PANE=%1\0\0ptr_munge=\0"
            ),
            some("sh|-c|", "HOME=/Users/me|TMUX_PANE=%1|")
        );
        // Without variables, and without what the system adds.
        assert_eq!(both(1, b"/bin/sh\0sh\0\0\0"), some("sh|", ""));
        assert_eq!(both(1, b"/bin/sh\0sh\0"), some("sh|", ""));
        assert_eq!(both(1, b"/bin/sh\0sh\0A=1\0B=2\0"), some("sh|", "A=1|B=2"));
        // An argument may be empty.
        assert_eq!(
            both(3, b"/bin/sh\0\0sh\0\0x\0A=1\0\0"),
            some("sh||x|", "A=1|")
        );
        for (count, cut) in [
            (1, &b""[..]),
            (1, b"/bin/sh"),
            (1, b"/bin/sh\0\0"),
            (1, b"/bin/sh\0\0sh"),
            (-1, b"/bin/sh\0sh\0"),
            (i32::MAX, b"/bin/sh\0sh\0"),
        ] {
            assert_eq!(both(count, cut), None, "{count} {cut:?}");
        }
        assert_eq!(arguments_and_variables(b"\0\0"), None);
    }

    #[test]
    fn a_start_time_is_read_as_ps_prints_it() {
        assert_eq!(second("Mon Nov 16 12:00:00 2026"), Some(1_794_830_400));
        assert_eq!(second("Thu Jan  1 00:00:09 1970\n"), Some(9));
        for odd in [
            "",
            "Mon Nov 16 12:00:00",
            "Mo 16 Nov 12:00:00 2026",
            "1794830400",
            "二 7月 28 09:21:07 2026",
        ] {
            assert_eq!(second(odd), None, "{odd:?}");
        }
    }
}
