//! Windows neither truncates nor removes a file that is mapped, so none is lost.

pub struct Watched;

impl Watched {
    pub fn new(_: &[u8]) -> Self {
        Self
    }

    #[allow(clippy::unused_self)]
    pub fn is_lost(&self) -> bool {
        false
    }
}
