//! Tells the code, the comments and the string literals of a Rust file apart.
//!
//! A scanner of the lexical rules that matter here: nested comments, raw strings, and a quote
//! that opens a character or a lifetime. It knows no grammar.

/// A string literal and the line on which it opens, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The line of the opening quote.
    pub line: usize,
    /// What stands between the quotes, escapes as written.
    pub text: String,
}

/// A Rust file in three layers. `code` and `comments` keep every line break, so a line has the
/// same number in both; what belongs to another layer is blank.
#[derive(Debug, Clone, Default)]
pub struct RustText {
    /// The code, with the contents of strings and characters blanked.
    pub code: String,
    /// The comments, with their slashes.
    pub comments: String,
    /// The string literals, raw and byte strings included.
    pub literals: Vec<Literal>,
}

impl RustText {
    /// Scans a file.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut scanner = Scanner { chars: text.chars().collect(), line: 1, ..Scanner::default() };
        scanner.run();
        scanner.out
    }

    /// The lines, counted from 1, on which this name or path stands in the code as a whole word.
    #[must_use]
    pub fn lines_with(&self, word: &str) -> Vec<usize> {
        lines_with_word(&self.code, word)
    }
}

/// The lines, counted from 1, on which the word stands with no letter, digit or `_` touching an
/// end of it that is one itself.
#[must_use]
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let numbered = text.lines().zip(1..);
    numbered.filter(|(line, _)| has_word(line, word)).map(|(_, number)| number).collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        let joined = |outside: Option<char>, inside: Option<char>| {
            outside.is_some_and(is_word_char) && inside.is_some_and(is_word_char)
        };
        !joined(before, word.chars().next()) && !joined(after, word.chars().next_back())
    })
}

/// Whether the character can stand in an identifier.
#[must_use]
pub fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Code,
    Comment,
    Text,
}

#[derive(Default)]
struct Scanner {
    chars: Vec<char>,
    at: usize,
    line: usize,
    /// Whether the last character of code belonged to a word: `for"` opens no raw string.
    in_word: bool,
    out: RustText,
}

impl Scanner {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('\'', _) => self.character_or_lifetime(),
                ('r' | 'b' | 'c', _) if !self.in_word => self.maybe_prefix(),
                _ => self.take(Layer::Code),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Moves one character into its layer and blanks it in the others.
    fn take(&mut self, layer: Layer) {
        let Some(c) = self.peek(0) else { return };
        self.at += 1;
        let blank = if c == '\n' { '\n' } else { ' ' };
        self.out.code.push(if layer == Layer::Code { c } else { blank });
        self.out.comments.push(if layer == Layer::Comment { c } else { blank });
        self.line += usize::from(c == '\n');
        self.in_word = layer == Layer::Code && is_word_char(c);
        if layer == Layer::Text
            && let Some(literal) = self.out.literals.last_mut()
        {
            literal.text.push(c);
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(Layer::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (Some(_), _) => {
                    self.take(Layer::Comment);
                    continue;
                }
                (None, _) => return,
            }
            self.take(Layer::Comment);
            self.take(Layer::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.open_literal();
        while let Some(c) = self.peek(0).filter(|c| *c != '"') {
            self.take(Layer::Text);
            if c == '\\' {
                self.take(Layer::Text);
            }
        }
        self.take(Layer::Code);
    }

    fn raw_string(&mut self, hashes: usize) {
        self.open_literal();
        while self.peek(0).is_some() && !self.closes_raw(hashes) {
            self.take(Layer::Text);
        }
        (0..=hashes).for_each(|_| self.take(Layer::Code));
    }

    fn open_literal(&mut self) {
        self.out.literals.push(Literal { line: self.line, text: String::new() });
        self.take(Layer::Code);
    }

    fn closes_raw(&self, hashes: usize) -> bool {
        self.peek(0) == Some('"') && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'))
    }

    /// `'a'` and `'\n'` are characters, `'a` is a lifetime.
    fn character_or_lifetime(&mut self) {
        let escaped = self.peek(1) == Some('\\');
        if !escaped && self.peek(2) != Some('\'') {
            return self.take(Layer::Code);
        }
        self.take(Layer::Code);
        self.blank_character();
        if escaped {
            self.blank_character();
        }
        while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
            self.blank_character();
        }
        self.take(Layer::Code);
    }

    /// Drops a character literal's content: it belongs to no layer that a rule reads.
    fn blank_character(&mut self) {
        self.at += 1;
        self.out.code.push(' ');
        self.out.comments.push(' ');
    }

    /// `r"`, `r#"`, `b"`, `br"`, `c"` and the like open a string; `r#name` and `row` do not.
    fn maybe_prefix(&mut self) {
        let letters = (0..2).take_while(|n| matches!(self.peek(*n), Some('r' | 'b' | 'c'))).count();
        let raw = (0..letters).any(|n| self.peek(n) == Some('r'));
        let hashes = (letters..).take_while(|n| self.peek(*n) == Some('#')).count();
        let opens = self.peek(letters + hashes) == Some('"') && (raw || hashes == 0);
        if !opens {
            return self.take(Layer::Code);
        }
        (0..letters + hashes).for_each(|_| self.take(Layer::Code));
        if raw { self.raw_string(hashes) } else { self.string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, comments: &str, literals: &[(usize, &str)]) {
        let read = RustText::read(text);
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(&read.code), code, "code of {text}");
        assert_eq!(squeeze(&read.comments), comments, "comments of {text}");
        let found: Vec<_> = read.literals.iter().map(|l| (l.line, l.text.as_str())).collect();
        assert_eq!(found, literals, "literals of {text}");
        assert_eq!(read.code.lines().count(), text.lines().count(), "lines of {text}");
    }

    #[test]
    fn layers() {
        check("let a = 1; // one", "let a = 1;", "// one", &[]);
        check("a /* b /* c */ d */ e", "a e", "/* b /* c */ d */", &[]);
        check(r#"f("a // b", c)"#, r#"f(" ", c)"#, "", &[(1, "a // b")]);
        check(r#"f("a\"b{", c)"#, r#"f(" ", c)"#, "", &[(1, r#"a\"b{"#)]);
        check("x\nr#\"a\"b\n{\"#;", "x r#\" \"#;", "", &[(2, "a\"b\n{")]);
        check(r#"br"\" b"x" c"y""#, r#"br" " b" " c" ""#, "", &[(1, "\\"), (1, "x"), (1, "y")]);
        check("fn f<'a>(c: &'a str) { '{' }", "fn f<'a>(c: &'a str) { ' ' }", "", &[]);
        check(r"['\'', '\n', '\u{1F}', '/', '/']", "[' ', ' ', ' ', ' ', ' ']", "", &[]);
        check("let r#fn = row; bar\"x\"", "let r#fn = row; bar\" \"", "", &[(1, "x")]);
    }

    #[test]
    fn whole_words() {
        let text = "halyard_core::x\nhalyard::y\nmy_halyard::z\n(halyard::w)";
        assert_eq!(lines_with_word(text, "halyard::"), [2, 4]);
        assert_eq!(lines_with_word(text, "halyard_core"), [1]);
        assert_eq!(lines_with_word("std::thread::sleep(x)", "thread::sleep"), [1]);
        assert_eq!(lines_with_word("thread::sleeper", "thread::sleep"), [] as [usize; 0]);
    }
}
