//! Which of the implemented instruction sets this CPU supports.

/// The list of implementations that the caller's modules `avx512`, `avx2` and `neon` detect,
/// fastest first, with the scalar one last.
macro_rules! available {
    ($scalar:expr) => {{
        #[cfg(target_arch = "x86_64")]
        let vectorised = [avx512::detect(), avx2::detect()];
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        let vectorised = [neon::detect()];
        #[cfg(not(any(
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_endian = "little")
        )))]
        let vectorised = [None];
        vectorised.into_iter().flatten().chain([$scalar]).collect()
    }};
}

pub(crate) use available;
