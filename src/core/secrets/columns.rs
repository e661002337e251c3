//! Passwords in the column of a table: `| user | password |` in Markdown, `user,password` in CSV.
//!
//! The head of a table says which columns are secret, and each line after it has one in them. One pass over the lines.

use super::Secret;
use super::table::PASS;
use super::text::{NEAR, looked};
use super::value::{Needs, is_placeholder, name_is};

/// Adds the secrets in the tables of a text.
pub fn find(text: &str, found: &mut Vec<Secret>) {
    if !text.contains('\n') || !text.contains(['|', ',', '\t', ';']) {
        return;
    }
    let mut table: Option<SecretColumns> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        looked(line.as_bytes());
        table = match table {
            Some(table) if is_rule(line) && table.separator == '|' => Some(table),
            Some(table) if line.matches(table.separator).count() == table.cells - 1 => {
                table.secrets(line, start, found);
                Some(table)
            }
            _ => SecretColumns::head(line),
        };
    }
}

struct SecretColumns {
    separator: char,
    cells: usize,
    /// The numbers of the columns that are secret, and how sure that is.
    columns: Vec<usize>,
}

impl SecretColumns {
    /// The head of a table that has a column of secrets. Its cells are short.
    fn head(line: &str) -> Option<SecretColumns> {
        if line.len() > 2 * NEAR {
            return None;
        }
        let separator = ['|', '\t', ';', ',']
            .into_iter()
            .find(|separator| line.contains(*separator))?;
        let is_word = |cell: &str| {
            let cell = cell.trim();
            cell.len() <= 24
                && (separator == '|'
                    || !cell.is_empty() && !cell.contains([' ', '=', ':', '(', '"', '\'']))
        };
        let is_secret = |cell: &str| {
            let cell = cell.trim().trim_matches(['*', '`', '"']);
            name_is(cell.as_bytes()).is_some_and(|sure| !sure.is_doubtful())
                || cell.eq_ignore_ascii_case(PASS)
        };
        let (mut cells, mut columns) = (0, Vec::new());
        for cell in line.split(separator) {
            if !is_word(cell) {
                return None;
            }
            if is_secret(cell) {
                columns.push(cells);
            }
            cells += 1;
        }
        (!columns.is_empty()).then_some(SecretColumns {
            separator,
            cells,
            columns,
        })
    }

    /// The secrets in a line of the table that begins at this position.
    fn secrets(&self, line: &str, start: usize, found: &mut Vec<Secret>) {
        let mut at = start;
        for (column, cell) in line.split(self.separator).enumerate() {
            let value = cell.trim().trim_matches(['`', '"', '*']);
            // A value is within its cell, so the two begin at places of one text.
            let from = at + cell.find(value).unwrap_or(0);
            if self.columns.contains(&column)
                && Needs::Said.are_met(value.as_bytes(), false)
                && !is_placeholder(value.as_bytes())
            {
                found.push(from..from + value.len());
            }
            at += cell.len() + self.separator.len_utf8();
        }
    }
}

/// The line under the head of a table.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.trim().chars().all(|char| "|-: ".contains(char))
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    #[test]
    fn the_column_of_a_password_is_hidden_in_every_row() {
        for (text, expected) in [
            (
                "| env | Password |\n|:--|---|\n| a | hunter2 |\n| b | `Winter25` |\n| c | |\nend",
                "| env | Password |\n|:--|---|\n| a | [redacted] |\n| b | `[redacted]` |\n| c | |\nend",
            ),
            (
                "user,password,role\nbob,hunter2,dev\nann,Winter25,ops\n",
                "user,password,role\nbob,[redacted],dev\nann,[redacted],ops\n",
            ),
            ("user\tpass\nbob\thunter2", "user\tpass\nbob\t[redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn other_tables_stay() {
        for text in [
            "| field | token |\n|---|---|\n| a | Comma |\n| b | required |",
            "name, password, email\nare the fields, all of them, required",
            "| key | value |\n|---|---|\n| retries2x | 3 |",
            "token, then worker12\nand on to, backend01",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
