//! The rows of the IDs that a report lists, by reading the input once more.

use std::collections::HashMap;
use std::convert::Infallible;

use crate::error::AuditError;
use crate::input::{Reason, Row, Rows};

/// Rows that are kept of an ID.
const MAX_PLACES: usize = 16;

/// A row of an ID: the file, the line, and its host.
pub(crate) type Place = (u32, u64, Option<String>);

pub(crate) struct Locator<E = Infallible> {
    pub(crate) places: HashMap<u64, Vec<Place>>,
    pub(crate) file: u32,
    error: std::marker::PhantomData<E>,
}

impl<E> Locator<E> {
    pub(crate) fn new(ids: impl Iterator<Item = u64>) -> Self {
        Self { places: ids.map(|id| (id, Vec::new())).collect(), file: 0, error: std::marker::PhantomData }
    }
}

impl<E> Rows for Locator<E> {
    type Error = AuditError<E>;

    #[inline]
    fn row(&mut self, row: Row<'_>) -> Result<(), Self::Error> {
        if let Some(places) = self.places.get_mut(&row.id)
            && places.len() < MAX_PLACES
        {
            places.push((self.file, row.line, row.host.map(|host| String::from_utf8_lossy(host).into_owned())));
        }
        Ok(())
    }

    fn unreadable(&mut self, _: u64, _: Reason, _: String) {}
}
