//! The few values of a JSON object that are asked for, as they are written: a number is not read as a double.

/// Finds the values of keys at the top of an object, as text without quotes. An escaped key does not match. `None` if the text is not an
/// object; what is inside of other values is not checked.
pub(crate) fn values<'a, const N: usize>(text: &'a [u8], keys: [&[u8]; N]) -> Option<[Option<&'a [u8]>; N]> {
    let mut found = [None; N];
    let mut rest = Text { bytes: text.trim_ascii(), at: 0 };
    rest.take(b'{')?;
    if rest.take(b'}').is_none() {
        loop {
            rest.blanks();
            let key = rest.string()?;
            rest.take(b':')?;
            rest.blanks();
            let value = rest.value()?;
            if let Some(at) = keys.iter().position(|&wanted| wanted == key) {
                found[at] = Some(value);
            }
            if rest.take(b',').is_none() {
                rest.take(b'}')?;
                break;
            }
        }
    }
    rest.blanks();
    (rest.at == rest.bytes.len()).then_some(found)
}

/// The elements of an array, as `values` gives them. `None` if the text is not an array.
pub(crate) fn elements(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    let mut rest = Text { bytes: text.trim_ascii(), at: 0 };
    rest.take(b'[')?;
    if rest.take(b']').is_some() {
        return Some(found);
    }
    loop {
        rest.blanks();
        found.push(rest.value()?);
        if rest.take(b',').is_none() {
            rest.take(b']')?;
            return Some(found);
        }
    }
}

/// The text of a string as `values` gives it, with the escapes that `JSON.stringify` writes resolved.
pub(crate) fn unescaped(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut out, mut rest) = (String::new(), text.chars());
    while let Some(char) = rest.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        out.push(match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits: String = rest.by_ref().take(4).collect();
                // Half of a pair is none: JSON.stringify writes whole characters as they are.
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(out)
}

struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Text<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// A string without its quotes, as it is escaped.
    fn string(&mut self) -> Option<&'a [u8]> {
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(&self.bytes[start..self.at - 1])
    }

    fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.peek()? {
            b'"' => return self.string(),
            b'{' | b'[' => {
                let mut depth = 0_u32;
                loop {
                    match self.peek()? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",}] \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
            }
        }
        (self.at > start).then(|| &self.bytes[start..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<&[u8]> {
        values(text.as_bytes(), [b"id"]).map(|[id]| id.unwrap_or(b"missing"))
    }

    #[test]
    fn a_value_is_taken_as_it_is_written() {
        assert_eq!(id(r#"{"id":9007199254740993}"#), Some(&b"9007199254740993"[..]));
        assert_eq!(id(r#" { "a" : {"id":1,"b":["}"]} , "id" : "12" } "#), Some(&b"12"[..]));
        assert_eq!(id(r#"{"a\"":"\\","id":null}"#), Some(&b"null"[..]));
        assert_eq!(id("{}"), Some(&b"missing"[..]));
        for text in ["", "12", "[{}]", r#"{"id":1"#, r#"{"id":}"#, r#"{"id":1} x"#, r#"{"id" 1}"#, r#"{"id":"1\"#] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn elements_and_escapes_are_resolved() {
        assert_eq!(elements(b"[]"), Some(vec![]));
        assert_eq!(elements(br#" [ {"a":[1]} , "x,]" , 3 ] "#), Some(vec![&br#"{"a":[1]}"#[..], b"x,]", b"3"]));
        assert_eq!(elements(b"[1"), None);
        assert_eq!(unescaped(br#"a\"\u00e9\n"#).as_deref(), Some("a\"\u{e9}\n"));
        assert_eq!(unescaped(br"\ud800"), None);
    }
}
