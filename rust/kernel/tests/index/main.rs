//! The structures of the index, each compared with a plain map.

#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/naive.rs"]
mod naive;

mod codes;
mod columns;
mod features;
mod mentions;
mod words;
