//! A temporary folder.

use std::cell::Cell;
use std::path::PathBuf;

/// A folder that is removed when it is dropped. Declare it before what maps its files, because
/// Windows does not remove a mapped file.
pub struct Folder {
    path: PathBuf,
    files: Cell<u32>,
}

impl Folder {
    pub fn new(name: &str) -> Self {
        let name = format!("memstore-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        let files = Cell::new(0);
        Self { path, files }
    }

    /// An empty file that was not used before.
    pub fn file(&self) -> PathBuf {
        self.files.set(self.files.get() + 1);
        let path = self.path.join(self.files.get().to_string());
        std::fs::write(&path, []).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
