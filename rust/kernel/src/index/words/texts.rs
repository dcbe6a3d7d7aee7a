//! The tokens of many rows, stored contiguously.

use std::collections::TryReserveError;

/// Rows of tokens; an empty token separates two columns.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    text: String,
    /// Where each token ends in the text.
    ends: Vec<usize>,
    /// Where each row ends in the tokens.
    rows: Vec<usize>,
}

impl Texts {
    /// No rows yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add a token to the row that [`Texts::end_row`] ends.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn push(&mut self, token: &str) -> Result<(), TryReserveError> {
        self.text.try_reserve(token.len())?;
        self.text.push_str(token);
        self.ends.try_reserve(1)?;
        self.ends.push(self.text.len());
        Ok(())
    }

    /// End the row of the tokens added since the last one.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn end_row(&mut self) -> Result<(), TryReserveError> {
        self.rows.try_reserve(1)?;
        self.rows.push(self.ends.len());
        Ok(())
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of tokens of all rows, including the empty ones.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ends.len()
    }

    /// The tokens of each row.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = &str> + Clone> {
        let row = |row| {
            let start = if row == 0 { 0 } else { self.rows[row - 1] };
            (start..self.rows[row]).map(|token| {
                let start = if token == 0 { 0 } else { self.ends[token - 1] };
                &self.text[start..self.ends[token]]
            })
        };
        (0..self.rows.len()).map(row)
    }
}
