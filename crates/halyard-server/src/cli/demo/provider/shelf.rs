//! Objects of one noun in the order they were made, found by id and listed newest first.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::Answer;
use super::params::Page;

/// What the provider keeps and shows.
pub(super) trait Object {
    /// The noun in messages: `No such charge: …`.
    const NOUN: &'static str;
    /// Where the objects are listed.
    const URL: &'static str;
    fn id(&self) -> &str;
    fn json(&self) -> Value;
}

#[derive(Debug)]
pub(super) struct Shelf<T> {
    objects: Vec<T>,
    positions: HashMap<String, usize>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { objects: Vec::new(), positions: HashMap::new() }
    }
}

impl<T: Object> Shelf<T> {
    pub(super) fn insert(&mut self, object: T) {
        self.positions.insert(object.id().to_owned(), self.objects.len());
        self.objects.push(object);
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects.iter()
    }

    /// The object, or the 400 that says which parameter named none.
    pub(super) fn get(&self, id: &str, param: &str) -> Result<&T, Answer> {
        let object = self.positions.get(id).and_then(|position| self.objects.get(*position));
        object.ok_or_else(|| Answer::missing(T::NOUN, id, param))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.positions.get(id).and_then(|position| self.objects.get_mut(*position))
    }

    /// One page of the objects that `keep` lets through, as Stripe's list object.
    pub(super) fn list(&self, page: &Page, keep: impl Fn(&T) -> bool) -> Result<Answer, Answer> {
        let end = match &page.starting_after {
            None => self.objects.len(),
            Some(id) => *self
                .positions
                .get(id)
                .ok_or_else(|| Answer::missing(T::NOUN, id, "starting_after"))?,
        };
        let older = self.objects.get(..end).unwrap_or_default();
        let mut found = older.iter().rev().filter(|object| keep(object));
        let data: Vec<Value> = found.by_ref().take(page.limit).map(Object::json).collect();
        let has_more = found.next().is_some();
        Ok(Answer::object(
            json!({ "object": "list", "url": T::URL, "has_more": has_more, "data": data }),
        ))
    }
}
