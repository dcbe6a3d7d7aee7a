//! JSON texts as Python's `json` writes them with `ensure_ascii=False`: the characters that have to
//! be escaped are, and no others.

use std::fmt::Write as _;

/// Append a text as a JSON string.
pub fn push_text(into: &mut String, text: &str) {
    into.push('"');
    let mut written = 0;
    for (place, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        into.push_str(&text[written..place]);
        if escape.is_empty() {
            write!(into, "\\u{byte:04x}").expect("a String takes all");
        } else {
            into.push_str(escape);
        }
        written = place + 1;
    }
    into.push_str(&text[written..]);
    into.push('"');
}

/// Append a whole number.
pub fn push_number(into: &mut String, number: i64) {
    write!(into, "{number}").expect("a String takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> String {
        let mut into = String::new();
        push_text(&mut into, text);
        into
    }

    #[test]
    fn only_what_has_to_be_escaped_is() {
        assert_eq!(quoted("tea"), "\"tea\"");
        assert_eq!(
            quoted("a\"b\\c\n\u{1}\u{7f}é"),
            "\"a\\\"b\\\\c\\n\\u0001\u{7f}é\""
        );
        assert_eq!(quoted("\u{8}\u{c}\r\t"), "\"\\b\\f\\r\\t\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
