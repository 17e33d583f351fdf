//! Where sorted runs are kept while the input is larger than the memory.

use std::convert::Infallible;

/// Appends to numbered runs and reads them back. The engine opens no file: its caller decides where runs live.
pub trait Disk {
    /// Why a run could not be written or read.
    type Error;

    /// Appends to a run, which begins empty. All bytes are written, or it is an error.
    ///
    /// # Errors
    /// What the medium refused: no room is left, for example.
    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Reads from an offset. Fewer bytes than asked for are read only at the end of the run.
    ///
    /// # Errors
    /// What the medium refused.
    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> Result<usize, Self::Error>;

    /// A run that is not read again.
    fn discard(&mut self, run: u32) {
        let _ = run;
    }
}

/// Runs in memory, for tests and small inputs.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    runs: Vec<Vec<u8>>,
}

impl Disk for MemoryDisk {
    type Error = Infallible;

    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Infallible> {
        let run = run as usize;
        if self.runs.len() <= run {
            self.runs.resize_with(run + 1, Vec::new);
        }
        self.runs[run].extend_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> Result<usize, Infallible> {
        let bytes = self.runs.get(run as usize).map_or(&[][..], Vec::as_slice);
        let from = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let count = into.len().min(bytes.len() - from);
        into[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    fn discard(&mut self, run: u32) {
        if let Some(run) = self.runs.get_mut(run as usize) {
            *run = Vec::new();
        }
    }
}
