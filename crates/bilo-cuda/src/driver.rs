//! The machine that is a GPU: CUDA's driver and run-time compiler, found when the program runs.

use crate::compile::{Coming, compile, lost};
use crate::runtime::{CudaError, KernelId, Launch, Memory, RecordId, Runtime, Tally};
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaSlice, CudaStream, DriverError, LaunchConfig,
    PushKernelArg, result, sys,
};
use std::ops::Range;
use std::sync::Arc;

/// Threads of a block: eight warps, two for each of a multiprocessor's schedulers.
const THREADS: usize = 256;

pub(crate) struct Driver {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    beside: Beside,
    /// None as long as no one has asked for what is being compiled; with the bytes of shared memory of a block.
    kernels: Vec<(Option<CudaFunction>, usize)>,
    /// Kernels that are being compiled, with their places.
    coming: Vec<(Range<usize>, Coming)>,
    /// Texts with their kernels.
    known: Vec<(String, Vec<KernelId>)>,
    graphs: Vec<Graph>,
    name: String,
    multiprocessors: usize,
    architecture: String,
    tally: Tally,
}

/// A second stream, for kernels that run beside others: where it begins to, and where they wait for it.
struct Beside {
    stream: Arc<CudaStream>,
    begin: CudaEvent,
    end: CudaEvent,
}

/// Launches that the card runs by itself.
struct Graph(CudaGraph);

// SAFETY: a graph may be used by any thread as long as it is one at a time, which `&mut self` sees to.
unsafe impl Send for Graph {}

impl Driver {
    /// Whether the GPU of a number is there, with all that is needed to use it.
    pub(crate) fn find(ordinal: usize) -> Result<(), CudaError> {
        // SAFETY: these only look for the libraries.
        let (driver, compiler) = unsafe { (sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !driver {
            return Err(CudaError::NoDriver);
        }
        let found = result::init().and_then(|()| CudaContext::device_count()).unwrap_or(0) as usize;
        if ordinal >= found {
            return Err(CudaError::NoDevice { wanted: ordinal, found });
        }
        if !compiler {
            return Err(CudaError::NoCompiler);
        }
        Ok(())
    }

    /// The GPU of a number.
    pub(crate) fn new(ordinal: usize) -> Result<Self, CudaError> {
        Self::find(ordinal)?;
        let context = CudaContext::new(ordinal).map_err(lost)?;
        // SAFETY: memory is used in the order of one stream, which waits for what runs beside it.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(lost)?;
        let beside = Beside {
            stream: context.new_stream().map_err(lost)?,
            begin: context.new_event(None).map_err(lost)?,
            end: context.new_event(None).map_err(lost)?,
        };
        let (major, minor) = context.compute_capability().map_err(lost)?;
        if major < 8 {
            return Err(CudaError::TooOld { ordinal, major, minor });
        }
        let count = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).map_err(lost)?;
        Ok(Self {
            name: context.name().map_err(lost)?,
            multiprocessors: count as usize,
            architecture: format!("--gpu-architecture=sm_{major}{minor}"),
            kernels: vec![],
            coming: vec![],
            known: vec![],
            graphs: vec![],
            tally: Tally::default(),
            context,
            stream,
            beside,
        })
    }
}

impl Driver {
    /// Waits until a kernel is compiled.
    fn await_kernel(&mut self, kernel: KernelId) -> Result<(), CudaError> {
        if self.kernels[kernel.0].0.is_some() {
            return Ok(());
        }
        let place = self.coming.iter().position(|(places, _)| places.contains(&kernel.0));
        let place = place.ok_or_else(|| CudaError::Driver("a kernel did not compile before".into()))?;
        let (places, coming) = self.coming.swap_remove(place);
        for (kernel, function) in self.kernels[places].iter_mut().zip(coming.awaited()?) {
            kernel.0 = Some(function);
        }
        Ok(())
    }

    fn launch_on(&self, stream: &Arc<CudaStream>, (kernel, blocks, args): Launch) -> Result<(), DriverError> {
        let (function, shared) = &self.kernels[kernel.0];
        let function = function.as_ref().expect("awaited before");
        let shape = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (self.threads() as u32, 1, 1),
            shared_mem_bytes: *shared as u32,
        };
        let mut launch = stream.launch_builder(function);
        launch.arg(&args);
        // SAFETY: generated kernels take one list of words, whose addresses and sizes are those of memory that
        // the device holds.
        unsafe { launch.launch(shape) }.map(|_| ())
    }
}

impl Runtime for Driver {
    fn description(&self) -> String {
        format!("{}, CUDA", self.name)
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn threads(&self) -> usize {
        THREADS
    }

    fn load(&mut self, source: &str, names: &[&str], shared: usize) -> Result<Vec<KernelId>, CudaError> {
        if let Some((_, kernels)) = self.known.iter().find(|(text, _)| text == source) {
            return Ok(kernels.clone());
        }
        let places = self.kernels.len()..self.kernels.len() + names.len();
        self.kernels.extend(names.iter().map(|_| (None, shared)));
        let kernels: Vec<KernelId> = places.clone().map(KernelId).collect();
        self.coming.push((places, compile(&self.context, &self.architecture, source, names, shared)));
        self.known.push((source.to_owned(), kernels.clone()));
        Ok(kernels)
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn allocate(&mut self, words: usize) -> Result<Memory, CudaError> {
        let (free, _) = self.context.mem_get_info().map_err(lost)?;
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        if words.saturating_mul(8) > free {
            let needed = megabytes(words.saturating_mul(8));
            return Err(CudaError::Memory { needed, free: megabytes(free) });
        }
        let slice: CudaSlice<u64> = self.stream.alloc_zeros(words.max(1)).map_err(lost)?;
        let address = {
            use cudarc::driver::DevicePtr;
            slice.device_ptr(&self.stream).0
        };
        Ok(Memory::new(address, words, Box::new(slice), &self.tally))
    }

    fn write(&mut self, memory: &mut Memory, words: &[u64]) -> Result<(), CudaError> {
        assert!(words.len() <= memory.words, "it fits");
        let slice = memory.owner.downcast_mut::<CudaSlice<u64>>().expect("allocated here");
        self.stream.memcpy_htod(words, &mut slice.slice_mut(..words.len())).map_err(lost)
    }

    fn read(&mut self, memory: &Memory, words: &mut [u64]) -> Result<(), CudaError> {
        assert!(words.len() <= memory.words, "it fits");
        let slice = memory.owner.downcast_ref::<CudaSlice<u64>>().expect("allocated here");
        self.stream.memcpy_dtoh(&slice.slice(..words.len()), words).map_err(lost)?;
        self.stream.synchronize().map_err(lost)
    }

    fn launch(&mut self, kernel: KernelId, blocks: usize, args: u64) -> Result<(), CudaError> {
        self.await_kernel(kernel)?;
        self.launch_on(&self.stream, (kernel, blocks, args)).map_err(lost)
    }

    fn launch_beside(&mut self, launches: &[Launch]) -> Result<(), CudaError> {
        let [first, others @ ..] = launches else { return Ok(()) };
        launches.iter().try_for_each(|&(kernel, ..)| self.await_kernel(kernel))?;
        let Beside { stream, begin, end } = &self.beside;
        let launch = || {
            if others.is_empty() {
                return self.launch_on(&self.stream, *first);
            }
            begin.record(&self.stream)?;
            stream.wait(begin)?;
            self.launch_on(&self.stream, *first)?;
            others.iter().try_for_each(|&launch| self.launch_on(stream, launch))?;
            end.record(stream)?;
            self.stream.wait(end)
        };
        launch().map_err(lost)
    }

    fn begin_record(&mut self) -> Result<(), CudaError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(lost)
    }

    fn end_record(&mut self) -> Result<RecordId, CudaError> {
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0)).map_err(lost)?;
        let graph = graph.ok_or_else(|| CudaError::Driver("no launches were recorded".into()))?;
        self.graphs.push(Graph(graph));
        Ok(RecordId(self.graphs.len() - 1))
    }

    fn replay(&mut self, record: RecordId) -> Result<(), CudaError> {
        self.graphs[record.0].0.launch().map_err(lost)
    }
}
