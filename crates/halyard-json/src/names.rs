//! Finding a member that appears twice in one object.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::value::Node;

/// Objects of up to so many members have their names compared pair by pair: at most 120
/// comparisons, most of them decided by the lengths, and nothing allocated.
const PAIRWISE_MAX: usize = 16;

/// The second name, if any, of two that are equal after unescaping. `members` is the index of
/// the first name of an object whose last value is also the last node.
pub(crate) fn duplicate(text: &str, nodes: &[Node], members: usize) -> Option<u32> {
    let mut known: [&str; PAIRWISE_MAX] = [""; PAIRWISE_MAX];
    for (count, (index, name)) in names(nodes, members).enumerate() {
        let raw = name.raw(text);
        let (Some(before), false) = (known.get(..count), name.escaped) else {
            return duplicate_hashed(text, nodes, members);
        };
        if before.contains(&raw) {
            return Some(index);
        }
        match known.get_mut(count) {
            Some(place) => *place = raw,
            None => return duplicate_hashed(text, nodes, members),
        }
    }
    None
}

/// The same for any number of names and for escaped ones. The standard hash has a random key, so
/// chosen names cannot make it slow.
#[cold]
fn duplicate_hashed(text: &str, nodes: &[Node], members: usize) -> Option<u32> {
    let count = names(nodes, members).count();
    if count < 2 {
        return None;
    }
    let mut known: HashSet<Cow<'_, str>> = HashSet::with_capacity(count);
    names(nodes, members)
        .find(|(_, name)| !known.insert(name.characters(text)))
        .map(|(index, _)| index)
}

/// Every name of the object, with its index.
fn names(nodes: &[Node], members: usize) -> impl Iterator<Item = (u32, &Node)> {
    let mut index = members;
    std::iter::from_fn(move || {
        let name = nodes.get(index)?;
        let at = index as u32;
        index = nodes.get(index + 1)?.after as usize;
        Some((at, name))
    })
}
