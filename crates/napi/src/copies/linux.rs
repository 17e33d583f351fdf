//! Copies on Linux, with glibc and musl: modules that have a note of ours.
//!
//! The note has the name `frazil` and the type 1. Its content is a 32-bit number: the distance from there to the mark of the copy.
//! Linkers keep notes, `strip` leaves them, and the program headers say where they are in memory.

use std::arch::global_asm;
use std::ffi::{CStr, c_int, c_void};
use std::slice;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::SeqCst;

use libc::{Elf64_Phdr as Header, PT_LOAD, PT_NOTE, dl_phdr_info};

/// The mark of this copy: 1 from its first use on, and while a thread finds out whether it can be used. Its address identifies
/// the copy.
pub(super) static MARK: AtomicU8 = AtomicU8::new(0);

/// The owner of the note, as in the file.
const OWNER: &[u8] = b"frazil\0";
const TYPE: u32 = 1;
/// The segment can be read, can be written: `PF_R` and `PF_W` of the ELF format.
const READABLE: u32 = 4;
const WRITABLE: u32 = 2;

// The lengths of owner and content, the type, the owner, padding to four bytes, the content.
global_asm!(
    ".pushsection .note.frazil, \"a\", %note",
    ".balign 4",
    ".long 7, 4, 1",
    ".asciz \"frazil\"",
    ".balign 4",
    ".long {mark} - .",
    ".popsection",
    mark = sym MARK,
);

/// Nothing to do: the file is linked with `-z nodelete`, and musl unloads nothing.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse")]
pub(super) const fn pin() -> Result<(), String> {
    Ok(())
}

/// The result of a walk over the modules.
#[derive(Default)]
struct Found {
    is_own: bool,
    other: Option<String>,
}

/// The path of another copy that is in use, if there is one.
pub(super) fn other() -> Result<Option<String>, String> {
    let mut found = Found::default();
    // SAFETY: the callback matches the signature and does not unwind; `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    if found.is_own { Ok(found.other) } else { Err("its note .note.frazil is not in memory".to_owned()) }
}

/// Looks at a module. The linker unloads none while this runs (glibc holds its lock, musl never does).
unsafe extern "C" fn visit(info: *mut dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: the linker passes a valid record, and `found` as it was given.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the linker keeps the headers of a module in memory, and says how many there are.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let module = Module { base: info.dlpi_addr, headers };
    for mark in module.marks() {
        if mark == &raw const MARK {
            found.is_own = true;
            continue;
        }
        // SAFETY: `marks` returns addresses of writable memory of the module, which stays loaded in the meantime. Every copy has an
        // `AtomicU8` there.
        if found.other.is_none() && unsafe { &*mark }.load(SeqCst) == 1 {
            found.other = Some(name(info));
        }
    }
    0
}

/// The path from which a module was loaded.
fn name(info: &dl_phdr_info) -> String {
    if info.dlpi_name.is_null() {
        return "an unnamed file".to_owned();
    }
    // SAFETY: the name of a module ends with a zero, and is copied while the module is loaded.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    // The program itself has none.
    if path.is_empty() { "the program itself".to_owned() } else { path }
}

/// A module in memory.
struct Module<'a> {
    /// The offset of the addresses in its headers.
    base: u64,
    headers: &'a [Header],
}

impl Module<'_> {
    /// The addresses to which notes of ours lead.
    fn marks(&self) -> impl Iterator<Item = *const AtomicU8> {
        self.headers.iter().filter(|header| header.p_type == PT_NOTE).flat_map(|header| self.marks_in(header))
    }

    fn marks_in(&self, segment: &Header) -> Vec<*const AtomicU8> {
        // This note is only in the file, not in memory.
        if !self.is_mapped(segment.p_vaddr, segment.p_memsz, READABLE) {
            return Vec::new();
        }
        let start = self.base.wrapping_add(segment.p_vaddr);
        let Ok(length) = usize::try_from(segment.p_memsz) else { return Vec::new() };
        // SAFETY: the range is in a segment that is mapped and readable, and notes are constant.
        let notes = unsafe { slice::from_raw_parts(start as *const u8, length) };
        contents(notes, segment.p_align)
            .filter_map(|(at, distance)| {
                let mark = segment.p_vaddr.wrapping_add(at as u64).wrapping_add_signed(i64::from(distance));
                self.is_mapped(mark, 1, READABLE | WRITABLE).then(|| self.base.wrapping_add(mark) as *const AtomicU8)
            })
            .collect()
    }

    /// Whether the range is in memory, with those permissions. Addresses are those of the headers.
    fn is_mapped(&self, start: u64, length: u64, flags: u32) -> bool {
        self.headers.iter().any(|segment| {
            segment.p_type == PT_LOAD
                && segment.p_flags & flags == flags
                && start.checked_sub(segment.p_vaddr).and_then(|skipped| segment.p_memsz.checked_sub(skipped)) >= Some(length)
        })
    }
}

/// The notes of ours in a segment: where the content is, and the number in it.
fn contents(notes: &[u8], align: u64) -> impl Iterator<Item = (usize, i32)> {
    // The format defines no other alignment of notes.
    let align = if align == 8 { 8 } else { 4 };
    let mut next = 0;
    std::iter::from_fn(move || {
        let word = |at: usize| notes.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| u32::from_ne_bytes(*bytes));
        let length = |at| word(at).and_then(|length| usize::try_from(length).ok());
        let (owner, content, kind) = (length(next)?, length(next + 4)?, word(next + 8)?);
        let owner_at = next + 12;
        let content_at = owner_at.checked_add(owner)?.checked_next_multiple_of(align)?;
        next = content_at.checked_add(content)?.checked_next_multiple_of(align)?;
        let is_ours = kind == TYPE && notes.get(owner_at..owner_at + owner) == Some(OWNER) && content == 4;
        Some(is_ours.then(|| word(content_at)).flatten().map(|distance| (content_at, distance.cast_signed())))
    })
    .flatten()
}
