//! Random documents, against serde_json and against themselves written otherwise.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what failed by panicking"
)]

use halyard_json::{FaultKind, Kind, Text, Value, canonical, changed, equal, parse, push_token};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

const DEPTH: u16 = 64;

/// A value, to be written in many ways. A number is a sign, digits and an exponent.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Null,
    Bool(bool),
    Number { negative: bool, digits: String, exponent: i32 },
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

fn characters() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::range('a', 'f'),
        1 => proptest::char::range('\u{1}', '\u{7f}'),
        1 => any::<char>().prop_filter("no NUL", |character| *character != '\0'),
    ];
    vec(character, 0..12).prop_map(String::from_iter)
}

fn trees() -> impl Strategy<Value = Tree> {
    let number = (any::<bool>(), "[1-9][0-9]{0,25}", -40..40_i32)
        .prop_map(|(negative, digits, exponent)| Tree::Number { negative, digits, exponent });
    let zero = any::<bool>().prop_map(|negative| Tree::Number {
        negative,
        digits: "0".to_owned(),
        exponent: 0,
    });
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        number,
        zero,
        characters().prop_map(Tree::String),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Tree::Array),
            btree_map(characters(), inner.clone(), 0..6)
                .prop_map(|members| Tree::Object(members.into_iter().collect())),
            // More members than are compared pair by pair.
            btree_map(characters(), inner, 15..20)
                .prop_map(|members| Tree::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a tree; every choice of spelling comes from the bits of `dice`.
struct Pen {
    dice: u64,
    out: String,
}

impl Pen {
    fn write(tree: &Tree, dice: u64) -> String {
        let mut pen = Self { dice, out: String::new() };
        pen.tree(tree);
        pen.out
    }

    /// A number below `sides` (xorshift).
    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % sides
    }

    fn space(&mut self) {
        let which = self.roll(8) as usize;
        self.out.push_str(["", "", "", "", " ", "\n", "\t", "\r\n "][which]);
    }

    fn tree(&mut self, tree: &Tree) {
        self.space();
        match tree {
            Tree::Null => self.out.push_str("null"),
            Tree::Bool(yes) => self.out.push_str(if *yes { "true" } else { "false" }),
            Tree::Number { negative, digits, exponent } => {
                self.number(*negative, digits, *exponent);
            }
            Tree::String(characters) => self.string(characters),
            Tree::Array(elements) => {
                self.out.push('[');
                for (place, element) in elements.iter().enumerate() {
                    self.out.push_str(if place > 0 { "," } else { "" });
                    self.tree(element);
                }
                self.space();
                self.out.push(']');
            }
            Tree::Object(members) => {
                self.out.push('{');
                let turn = if members.is_empty() { 0 } else { self.roll(members.len() as u64) };
                let (late, early) = members.split_at(turn as usize);
                for (place, (name, member)) in early.iter().chain(late).enumerate() {
                    self.out.push_str(if place > 0 { "," } else { "" });
                    self.space();
                    self.string(name);
                    self.space();
                    self.out.push(':');
                    self.tree(member);
                }
                self.space();
                self.out.push('}');
            }
        }
        self.space();
    }

    fn number(&mut self, negative: bool, digits: &str, exponent: i32) {
        let zero = digits == "0";
        if negative {
            self.out.push('-');
        }
        let fraction = self.roll(digits.len() as u64 + 3) as usize;
        let padded = format!("{}{digits}", "0".repeat((fraction + 1).saturating_sub(digits.len())));
        let (whole, rest) = padded.split_at(padded.len() - fraction);
        self.out.push_str(whole);
        let zeros = "0".repeat(self.roll(3) as usize);
        if fraction > 0 || !zeros.is_empty() {
            self.out.push_str(&format!(".{rest}{zeros}"));
        }
        let exponent = exponent + fraction as i32;
        let (letter, plus) = (["e", "E"][self.roll(2) as usize], ["", "+"][self.roll(2) as usize]);
        match exponent {
            0 if self.roll(2) == 0 || zero => {}
            0.. => self.out.push_str(&format!("{letter}{plus}0{exponent}")),
            _ => self.out.push_str(&format!("{letter}{exponent}")),
        }
    }

    fn string(&mut self, characters: &str) {
        self.out.push('"');
        for character in characters.chars() {
            let must = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
            match character {
                '"' | '\\' | '/' if self.roll(2) == 0 => {
                    self.out.push_str(&format!("\\{character}"))
                }
                '\n' if self.roll(2) == 0 => self.out.push_str("\\n"),
                '\t' if self.roll(2) == 0 => self.out.push_str("\\t"),
                _ if must || self.roll(6) == 0 => {
                    let upper = self.roll(2) == 0;
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let hex = if upper { format!("{unit:04X}") } else { format!("{unit:04x}") };
                        self.out.push_str(&format!("\\u{hex}"));
                    }
                }
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

/// Compares a value with what serde_json read.
fn check_same(ours: Value<'_>, theirs: &serde_json::Value) {
    match theirs {
        serde_json::Value::Null => assert_eq!(ours.kind(), Kind::Null),
        serde_json::Value::Bool(yes) => assert_eq!(ours.as_bool(), Some(*yes)),
        serde_json::Value::Number(number) => {
            // They read -0 as a float, as an integer has no such value.
            let integer = if ours.raw() == "-0" { Some(0) } else { number.as_i64() };
            assert_eq!(ours.as_i64(), integer, "{ours:?}");
            // serde_json's default float reading may be one unit off in the last place.
            let (float, other) = (ours.as_f64().unwrap(), number.as_f64().unwrap());
            assert!((float - other).abs() <= float.abs() * 1e-15, "{ours:?}: {float} {other}");
        }
        serde_json::Value::String(characters) => assert_eq!(&ours.as_str().unwrap(), characters),
        serde_json::Value::Array(elements) => {
            assert_eq!((ours.kind(), ours.len()), (Kind::Array, elements.len()));
            for (ours, theirs) in ours.elements().zip(elements) {
                check_same(ours, theirs);
            }
        }
        serde_json::Value::Object(members) => {
            assert_eq!((ours.kind(), ours.len()), (Kind::Object, members.len()));
            for (name, value) in ours.members() {
                check_same(value, &members[&*name]);
            }
        }
    }
}

/// Changes one place of the tree that the dice choose; appends its path to the pointer.
fn change(tree: &mut Tree, dice: u64, pointer: &mut String) {
    let next = dice.rotate_right(7) ^ 0x9E37_79B9_7F4A_7C15;
    match tree {
        Tree::Array(elements) if !elements.is_empty() => {
            let index = dice as usize % elements.len();
            push_token(pointer, &index.to_string());
            change(&mut elements[index], next, pointer);
        }
        Tree::Object(members) if !members.is_empty() => {
            let index = dice as usize % members.len();
            push_token(pointer, &members[index].0);
            change(&mut members[index].1, next, pointer);
        }
        Tree::Number { digits, exponent, .. } if digits != "0" => *exponent += 1,
        Tree::String(characters) => characters.push('x'),
        Tree::Null => *tree = Tree::Bool(false),
        _ => *tree = Tree::Null,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn same_as_serde_json(tree in trees(), dice in 1..u64::MAX) {
        let text = Pen::write(&tree, dice);
        let document = parse(text.as_bytes(), DEPTH).unwrap();
        check_same(document.root(), &serde_json::from_str(&text).unwrap());
        prop_assert_eq!(document.root().raw(), text.trim());
        let trusted = Text::trusted(text.as_str());
        prop_assert_eq!(document.root().height(), trusted.height());
        let height = document.root().height();
        prop_assert!(parse(text.as_bytes(), height).is_ok());
        if let Some(max) = height.checked_sub(1) {
            let fault = parse(text.as_bytes(), max).map(|_| ()).unwrap_err();
            prop_assert_eq!(fault.kind, FaultKind::TooDeep { max });
        }
    }

    #[test]
    fn spelling_does_not_matter(tree in trees(), dice in 1..u64::MAX, other in 1..u64::MAX) {
        let read = |dice| Text::parse(&Pen::write(&tree, dice), DEPTH).unwrap();
        let (one, two) = (read(dice), read(other));
        let form = canonical(&one);
        prop_assert_eq!(&form, &canonical(&two), "{} and {}", one, two);
        prop_assert!(equal(&one, &two));
        prop_assert!(changed(&one, &two, 9).is_empty());
        let again = Text::parse(std::str::from_utf8(&form).unwrap(), DEPTH).unwrap();
        prop_assert_eq!(canonical(&again), form);
    }

    #[test]
    fn one_change_is_found(tree in trees(), dice in 1..u64::MAX, other in 1..u64::MAX) {
        let mut altered = tree.clone();
        let mut pointer = String::new();
        change(&mut altered, other, &mut pointer);
        let read = |tree| Text::parse(&Pen::write(tree, dice), DEPTH).unwrap();
        let (one, two) = (read(&tree), read(&altered));
        prop_assert!(!equal(&one, &two), "{} and {}", one, two);
        prop_assert_eq!(changed(&one, &two, 9), [pointer], "{} and {}", one, two);
    }

    #[test]
    fn a_repeated_name_is_found(
        members in btree_map(characters(), Just(1), 1..40),
        which in any::<prop::sample::Index>(),
        dice in 1..u64::MAX,
    ) {
        let mut members: Vec<_> = members.into_keys().map(|name| (name, Tree::Null)).collect();
        let twice = members[which.index(members.len())].clone();
        members.push(twice.clone());
        let text = Pen::write(&Tree::Array(vec![Tree::Object(members)]), dice);
        let fault = parse(text.as_bytes(), DEPTH).map(|_| ()).unwrap_err();
        prop_assert_eq!(fault.kind, FaultKind::DuplicateMember(twice.0.clone()));
        let mut pointer = "/0".to_owned();
        push_token(&mut pointer, &twice.0);
        prop_assert_eq!(fault.pointer, pointer);
    }

    /// Documents with one byte put in, changed or taken out: refused by both readers, or read
    /// alike, or refused here for one of the four reasons that serde_json does not know.
    #[test]
    fn damaged_texts(
        tree in trees(),
        dice in 1..u64::MAX,
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![
            prop::sample::select(b"\"\\{}[],:0123456789-+.eEtfnu \n/\0".to_vec()),
            any::<u8>(),
        ],
        how in 0..3,
    ) {
        let mut text = Pen::write(&tree, dice).into_bytes();
        let at = at.index(text.len());
        match how {
            0 => text.insert(at, byte),
            1 => text[at] = byte,
            _ => text.truncate(at),
        }
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match (parse(&text, DEPTH), theirs) {
            (Ok(document), Ok(theirs)) => check_same(document.root(), &theirs),
            (Ok(document), Err(error)) => {
                let beyond = error.to_string().contains("number out of range");
                prop_assert!(beyond, "only they refuse {:?}: {}", document.root(), error);
            }
            (Err(fault), theirs) => {
                prop_assert!(fault.offset <= text.len());
                let refused = theirs.is_err() || !fault.is_syntax();
                prop_assert!(refused, "only we: {} in {}", fault, String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..40)) {
        if let Ok(document) = parse(&bytes, DEPTH) {
            check_same(document.root(), &serde_json::from_slice(&bytes).unwrap());
        }
    }
}
