//! Characters made up for `⟨hex 32⟩`, so that no file here has something that looks like a lost key.

/// The same numbers in every run.
pub fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

/// A row with characters in the place of its marks.
pub fn made_up(row: &str) -> String {
    const ALNUM: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut seed = row.len() as u64;
    let mut made = String::new();
    for (index, part) in row.split('⟨').enumerate() {
        let Some((kind, after)) = part.split_once('⟩').filter(|_| index > 0) else {
            made += part;
            continue;
        };
        let (alphabet, count) = kind.split_once(' ').expect("an alphabet and a count");
        let alphabet = match alphabet {
            "digits" => ALNUM[..10].to_owned(),
            "hex" => "0123456789abcdef".to_owned(),
            "caps" => ALNUM[..36].to_owned(),
            "alnum" => ALNUM.to_owned(),
            "word" => format!("{ALNUM}-_"),
            "base64" => format!("{ALNUM}+/"),
            other => panic!("no alphabet {other}"),
        };
        let count: usize = count.parse().expect("a count");
        // A key has letters and digits in it.
        made += &"7b0a"[..count.min(4)].replace(|char| !alphabet.contains(char), "7");
        made.extend(
            (4..count).map(|_| char::from(alphabet.as_bytes()[random(&mut seed, alphabet.len())])),
        );
        made += after;
    }
    made
}
