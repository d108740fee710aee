//! Whether tile registers can be used.

#[cfg(target_os = "linux")]
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};

/// Whether the processor has it and the system lets this process use it.
pub(crate) fn available() -> bool {
    // CPUID leaf 7, EDX: bit 22 is AMX-BF16, bit 24 AMX-TILE.
    let asked = 1 << 22 | 1 << 24;
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & asked == asked && permitted()
}

/// Asks the system for the registers: they are too large to be saved for every process.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let status: isize;
    // SAFETY: the call touches no memory of ours; `syscall` itself changes the registers that are named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL as isize => status,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    status == 0
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}
