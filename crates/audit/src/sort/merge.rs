//! A k-way merge by a tree of losers: each inner node has the loser of its match, so the next winner takes one match a level.

use super::item::Item;
use super::run::Cursor;
use crate::disk::Disk;

pub(crate) struct Merge<T> {
    cursors: Vec<Cursor<T>>,
    /// The next key of each cursor.
    keys: Vec<u64>,
    /// `losers[0]` is the winner, and `losers[n]` the loser of the match between the winners of `2n` and `2n + 1`. Cursor `c` is leaf
    /// `cursors.len() + c`.
    losers: Vec<usize>,
}

impl<T: Item> Merge<T> {
    pub(crate) fn new<D: Disk>(cursors: Vec<Cursor<T>>, disk: &mut D) -> Result<Self, D::Error> {
        let mut merge = Self { cursors: Vec::new(), keys: Vec::new(), losers: Vec::new() };
        for mut cursor in cursors {
            if cursor.fill(disk)? {
                merge.keys.push(cursor.at_hand()[0].key());
                merge.cursors.push(cursor);
            }
        }
        merge.build();
        Ok(merge)
    }

    fn build(&mut self) {
        let count = self.cursors.len();
        self.losers = vec![0; count.max(1)];
        // The winners of all matches, leaves included.
        let mut winners: Vec<usize> = vec![0; 2 * count];
        for cursor in 0..count {
            winners[count + cursor] = cursor;
        }
        for node in (1..count).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if self.keys[right] < self.keys[left] { (right, left) } else { (left, right) };
            winners[node] = winner;
            self.losers[node] = loser;
        }
        if count > 1 {
            self.losers[0] = winners[1];
        }
    }

    /// Plays the matches from a leaf, whose key changed, up.
    fn replay(&mut self, cursor: usize) {
        let mut winner = cursor;
        let mut key = self.keys[cursor];
        let mut node = usize::midpoint(self.cursors.len(), cursor);
        while node > 0 {
            let loser = self.losers[node];
            if self.keys[loser] < key {
                self.losers[node] = winner;
                winner = loser;
                key = self.keys[loser];
            }
            node /= 2;
        }
        self.losers[0] = winner;
    }

    /// The least key of the other cursors: that of a loser on the winner's way.
    fn limit(&self, winner: usize) -> u64 {
        let mut limit = u64::MAX;
        let mut node = usize::midpoint(self.cursors.len(), winner);
        while node > 0 {
            limit = limit.min(self.keys[self.losers[node]]);
            node /= 2;
        }
        limit
    }

    /// Appends the next items, about `at_most`; `false` if there are no more.
    pub(crate) fn next<D: Disk>(&mut self, into: &mut Vec<T>, at_most: usize, disk: &mut D) -> Result<bool, D::Error> {
        // A cursor that wins twice in a row probably goes on winning, as runs of an ordered input do.
        let mut last = usize::MAX;
        while into.len() < at_most {
            if self.cursors.is_empty() {
                return Ok(false);
            }
            let winner = self.losers[0];
            if last == winner {
                let limit = self.limit(winner);
                let cursor = &mut self.cursors[winner];
                let most = cursor.at_hand().len().min(at_most - into.len());
                let at_hand = &cursor.at_hand()[..most];
                let count = at_hand.iter().position(|item| item.key() > limit).unwrap_or(most);
                into.extend_from_slice(&at_hand[..count]);
                cursor.skip(count);
            } else {
                let cursor = &mut self.cursors[winner];
                into.push(cursor.at_hand()[0]);
                cursor.skip(1);
            }
            last = winner;
            let cursor = &mut self.cursors[winner];
            if cursor.fill(disk)? {
                self.keys[winner] = cursor.at_hand()[0].key();
                self.replay(winner);
            } else {
                cursor.discard(disk);
                self.cursors.swap_remove(winner);
                self.keys.swap_remove(winner);
                self.build();
                last = usize::MAX;
            }
        }
        Ok(true)
    }
}
