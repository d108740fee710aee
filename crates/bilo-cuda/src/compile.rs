//! From text to kernels, beside other work: a problem has several texts, each takes seconds, and what is compiled together
//! takes as long as the longest.

use crate::cache;
use crate::runtime::CudaError;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError, sys};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What the driver says, as an error of this crate.
pub(crate) fn lost(error: DriverError) -> CudaError {
    CudaError::Driver(error.to_string())
}

/// Kernels of one text that are being compiled. Who no longer wants them waits all the same: a compiler must not be running when
/// the program ends.
pub(crate) struct Coming(Option<JoinHandle<Result<Vec<CudaFunction>, CudaError>>>);

impl Coming {
    /// The kernels, in the order of their names.
    pub(crate) fn awaited(mut self) -> Result<Vec<CudaFunction>, CudaError> {
        let thread = self.0.take().expect("no one else waits");
        thread.join().unwrap_or_else(|_| Err(CudaError::Driver("the compiler broke down".into())))
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

/// Begins to make the kernels of these names, whose blocks may have so many bytes of shared memory.
pub(crate) fn compile(
    context: &Arc<CudaContext>,
    architecture: &str,
    source: &str,
    names: &[&str],
    shared: usize,
) -> Coming {
    let (context, architecture, source) = (context.clone(), architecture.to_owned(), source.to_owned());
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let make = move || {
        let module = module(&context, &architecture, &source)?;
        let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let kernel = |name: &String| {
            let kernel = module.load_function(name)?;
            kernel.set_attribute(most, shared as i32)?;
            Ok(kernel)
        };
        names.iter().map(kernel).collect::<Result<_, _>>().map_err(lost)
    };
    Coming(Some(std::thread::spawn(make)))
}

/// A text for the card, as it was kept or compiled.
fn module(
    context: &Arc<CudaContext>,
    architecture: &str,
    source: &str,
) -> Result<Arc<CudaModule>, CudaError> {
    let known = cache::path(source, architecture);
    if let Some(Ok(module)) = known.as_deref().and_then(cache::read).map(|ptx| context.load_module(ptx)) {
        return Ok(module);
    }
    let options = CompileOptions {
        options: vec![architecture.to_owned(), "--std=c++17".into()],
        ..CompileOptions::default()
    };
    let ptx = compile_ptx_with_opts(source, options).map_err(|error| kept(source, &error))?;
    if let Some(path) = &known {
        cache::write(path, &ptx.to_src());
    }
    context.load_module(ptx).map_err(lost)
}

/// Keeps a text that does not compile, to be looked at.
fn kept(source: &str, error: &CompileError) -> CudaError {
    let path = std::env::temp_dir().join(format!("bilo-kernel-{}.cu", std::process::id()));
    let kept = match std::fs::write(&path, source) {
        Ok(()) => path.display().to_string(),
        Err(error) => format!("no file ({error})"),
    };
    let log = match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => other.to_string(),
    };
    CudaError::Compile { log, kept }
}
