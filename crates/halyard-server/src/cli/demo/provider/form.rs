//! Form bodies and query strings with Stripe's nesting: `metadata[key]=v`, `list[]=v`, `list[0]=v`.

use std::collections::BTreeMap;

use super::answer::Answer;

/// Fields of one form.
const FIELDS_MAX: usize = 1_000;
/// Levels of brackets in one name.
const DEPTH_MAX: usize = 6;

/// Parameters by name. Two calls have the same parameters when their groups are equal.
pub(super) type Group = BTreeMap<String, Field>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Text(String),
    /// A hash, or a list whose names are its positions.
    Group(Group),
}

/// Reads a form. Of two fields with one name the later counts, as at Stripe.
pub(super) fn parse(encoded: &[u8]) -> Result<Group, Answer> {
    let mut root = Group::new();
    for (count, (name, value)) in form_urlencoded::parse(encoded).enumerate() {
        if count >= FIELDS_MAX {
            return Err(Answer::invalid(format!("More than {FIELDS_MAX} parameters.")));
        }
        let inserted = split(&name).and_then(|path| insert(&mut root, &path, value.into_owned()));
        if inserted.is_none() {
            return Err(Answer::invalid(format!("Invalid parameter name: {name}")));
        }
    }
    Ok(root)
}

/// `a[b][]` is `a`, `b` and an empty part.
fn split(name: &str) -> Option<Vec<&str>> {
    let Some(bracket) = name.find('[') else {
        return (!name.is_empty() && !name.contains(']')).then(|| vec![name]);
    };
    let (head, rest) = name.split_at(bracket);
    let inner = rest.strip_prefix('[')?.strip_suffix(']')?;
    let path: Vec<&str> = std::iter::once(head).chain(inner.split("][")).collect();
    let well_formed = !head.is_empty() && path.iter().all(|part| !part.contains(['[', ']']));
    (well_formed && path.len() <= DEPTH_MAX).then_some(path)
}

/// `None` when one name is both a value and a group.
fn insert(group: &mut Group, path: &[&str], value: String) -> Option<()> {
    let (first, rest) = path.split_first()?;
    let name = if first.is_empty() { group.len().to_string() } else { (*first).to_owned() };
    if !rest.is_empty() {
        return match group.entry(name).or_insert_with(|| Field::Group(Group::new())) {
            Field::Group(inner) => insert(inner, rest, value),
            Field::Text(_) => None,
        };
    }
    match group.insert(name, Field::Text(value)) {
        None | Some(Field::Text(_)) => Some(()),
        Some(Field::Group(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: &str, expected: Option<&[(&str, &str)]>) {
        let flat = parse(form.as_bytes()).ok().map(|group| {
            let mut flat = Vec::new();
            flatten("", &group, &mut flat);
            flat
        });
        let expected = expected.map(|pairs| {
            pairs.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect()
        });
        assert_eq!(flat, expected, "{form}");
    }

    fn flatten(prefix: &str, group: &Group, flat: &mut Vec<(String, String)>) {
        for (name, field) in group {
            let path = format!("{prefix}/{name}");
            match field {
                Field::Text(value) => flat.push((path, value.clone())),
                Field::Group(inner) => flatten(&path, inner, flat),
            }
        }
    }

    #[test]
    fn names_nest_by_brackets() {
        check("", Some(&[]));
        check("a=1&b=", Some(&[("/a", "1"), ("/b", "")]));
        check("a=1&a=2", Some(&[("/a", "2")]));
        check("m[x]=1&m[y]=2", Some(&[("/m/x", "1"), ("/m/y", "2")]));
        check("m%5Bx%5D=a+b%26c", Some(&[("/m/x", "a b&c")]));
        check("l[]=a&l[]=b", Some(&[("/l/0", "a"), ("/l/1", "b")]));
        check("l[0][id]=a&l[1][id]=b", Some(&[("/l/0/id", "a"), ("/l/1/id", "b")]));
        check("a[b][c][d][e][f]=1", Some(&[("/a/b/c/d/e/f", "1")]));
        check("a[b][c][d][e][f][g]=1", None);
        for malformed in ["=1", "[a]=1", "a[=1", "a]=1", "a[b=1", "a[b]c=1", "a[[b]]=1"] {
            check(malformed, None);
        }
        check("a=1&a[b]=2", None);
        check("a[b]=2&a=1", None);
    }
}
