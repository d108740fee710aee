//! Run-time choice of the instruction set. A loop written once as a [`Job`] is compiled for each
//! set and the best one that the machine has is called; no build flags are needed.

use std::sync::OnceLock;

/// An instruction set that loops are compiled for. Nobody can name one that the machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
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
    /// What every machine of this kind has.
    pub const BASELINE: Self = Self(Set::Baseline);

    /// The best set of this machine.
    pub fn detect() -> Self {
        // The system is asked for tile registers: once is enough.
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(Self::ask)
    }

    fn ask() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
            {
                return Self(if crate::amx_support::available() { Set::Amx } else { Set::Avx512 });
            }
            if is_x86_feature_detected!("avx2") {
                return Self(Set::Avx2);
            }
        }
        Self::BASELINE
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Amx => "AVX-512 and AMX",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "AVX2",
            Set::Baseline if cfg!(target_arch = "aarch64") => "NEON",
            Set::Baseline => "baseline",
        }
    }

    /// Whether vectors have 512 bits.
    pub fn has_512_bits(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Amx | Set::Avx512 => true,
            _ => false,
        }
    }

    /// Whether there are tile registers.
    pub fn has_tiles(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Amx => true,
            _ => false,
        }
    }

    /// This set without its tile registers, if it has some.
    #[cfg(test)]
    pub(crate) fn without_tiles(self) -> Option<Self> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Amx => Some(Self(Set::Avx512)),
            _ => None,
        }
    }

    /// Runs a job compiled for this instruction set.
    pub fn run<J: Job>(self, job: J) {
        match self.0 {
            // SAFETY: `detect` is the only place that makes these values, after asking the CPU.
            #[cfg(target_arch = "x86_64")]
            Set::Amx | Set::Avx512 => unsafe { run_avx512(job) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { run_avx2(job) },
            Set::Baseline => job.run(),
        }
    }

    /// Runs a job that is written for vectors of 512 bits, where there are some: it is compiled for no other set.
    pub(crate) fn run_512<J: Job>(self, job: J) {
        assert!(self.has_512_bits(), "only asked for where there are such vectors");
        // SAFETY: `detect` has found them.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            run_avx512(job);
        }
        #[cfg(not(target_arch = "x86_64"))]
        job.run();
    }
}

/// Ends the use of the upper halves of vector registers. Some libraries' products of matrices leave them in use, faer's among
/// them; from then on each SSE instruction of the thread waits for what last wrote its register (Intel, Optimization Reference
/// Manual, "Mixing AVX code with SSE code"), and loops take up to twice as long. For where loops without wide vectors begin.
pub fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has these registers.
        unsafe { zero_upper() };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}

/// A loop to be compiled for every instruction set; `run` must be `#[inline(always)]`.
pub trait Job {
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::arch::x86_64::{__cpuid_count, _xgetbv};

    /// Which parts of the registers are in use, where the CPU tells: bit 2 stands for the upper halves.
    #[target_feature(enable = "xsave")]
    fn in_use() -> u64 {
        // SAFETY: asked for after `tells`.
        unsafe { _xgetbv(1) }
    }

    /// Leaf 13 says with bit 2 whether uses are told.
    fn tells() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("xsave")
            && __cpuid_count(13, 1).eax & 4 != 0
    }

    #[test]
    fn upper_halves_are_not_in_use_after_they_were_cleared() {
        if !tells() {
            return;
        }
        // SAFETY: the CPU has these registers and tells of them; the register is declared as changed.
        let before = unsafe {
            std::arch::asm!("vpcmpeqd ymm0, ymm0, ymm0", out("ymm0") _);
            in_use()
        };
        clear_upper_halves();
        // SAFETY: as above.
        let after = unsafe { in_use() };
        assert_eq!((before & 4, after & 4), (4, 0));
    }
}
