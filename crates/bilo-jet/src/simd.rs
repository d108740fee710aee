//! Run-time choice of the instruction set. A loop written once as a [`Job`] is compiled for each
//! set and the best one that the machine has is called; no build flags are needed.

/// Instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simd {
    /// 512-bit vectors, and tile registers for products.
    #[cfg(target_arch = "x86_64")]
    Amx,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Whatever the target guarantees: SSE2 on x86-64, NEON on AArch64.
    Baseline,
}

impl Simd {
    /// The best set of this machine.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
            {
                return if crate::linear::amx_available() { Self::Amx } else { Self::Avx512 };
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx => "AVX-512 and AMX",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            Self::Baseline if cfg!(target_arch = "aarch64") => "NEON",
            Self::Baseline => "baseline",
        }
    }

    /// Whether vectors have 512 bits.
    pub(crate) fn has_512_bits(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx | Self::Avx512 => true,
            _ => false,
        }
    }

    /// Whether there are tile registers.
    pub(crate) fn has_tiles(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx => true,
            _ => false,
        }
    }

    /// Runs a job compiled for this instruction set.
    pub(crate) fn run<J: Job>(self, job: J) {
        match self {
            // SAFETY: `detect` is the only place that makes these values, after asking the CPU.
            #[cfg(target_arch = "x86_64")]
            Self::Amx | Self::Avx512 => unsafe { run_avx512(job) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { run_avx2(job) },
            Self::Baseline => job.run(),
        }
    }
}

/// A loop to be compiled for every instruction set; `run` must be `#[inline(always)]`.
pub(crate) trait Job {
    /// The loop.
    fn run(self);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn run_avx512<J: Job>(job: J) {
    job.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<J: Job>(job: J) {
    job.run();
}
