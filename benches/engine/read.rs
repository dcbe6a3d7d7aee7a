//! The plain read: all numbers of a block of memory, once, on as many threads as are asked for.

use std::hint::black_box;
use std::slice;
use std::thread;

const LANES: usize = 64;

/// # Safety
///
/// `count` numbers are at `numbers`, and nothing changes them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plain_read(numbers: *const f32, count: usize, threads: usize) {
    // SAFETY: as the caller promises.
    let numbers = unsafe { slice::from_raw_parts(numbers, count) };
    thread::scope(|scope| {
        for part in numbers.chunks(count.div_ceil(threads.max(1)).max(1)) {
            scope.spawn(|| black_box(sum(part)));
        }
    });
}

fn sum(numbers: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for numbers in numbers.as_chunks::<LANES>().0 {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    sums.iter().sum()
}
