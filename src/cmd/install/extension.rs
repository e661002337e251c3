//! The extension for Pi: a file of our own that has the path of the program in it.

const TEXT: &str = include_str!("../../../pi/session-context.ts");
const MARK: &str = "// session-monitor: the Pi extension.";
const PROGRAM: &str = "const INSTALLED = \"\";";

pub fn text(program: &str) -> String {
    TEXT.replacen(PROGRAM, &format!("const INSTALLED = {};", serde_json::Value::from(program)), 1)
}

pub fn is_ours(text: &[u8]) -> bool {
    text.starts_with(MARK.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_the_program() {
        let text = text("/a \"b\"/session-context");
        assert!(is_ours(text.as_bytes()));
        assert!(text.contains(r#"const INSTALLED = "/a \"b\"/session-context";"#), "{text}");
        assert!(!text.contains(PROGRAM));
    }
}
