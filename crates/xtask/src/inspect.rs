//! What a built addon needs and offers, read from the file: the facts, which `scripts/platforms/inspect.mjs` compares with the list of
//! platforms.
//!
//! goblin reads ELF, Mach-O and PE. It does not read the signature of a Mach-O file, whose pages are hashed here: a system on
//! Apple silicon ends a process that loads a library whose hashes do not fit.

use goblin::elf::dynamic::{DF_1_NODELETE, DF_1_NOOPEN, DF_SYMBOLIC, DT_SYMBOLIC, DT_TEXTREL};
use goblin::mach::load_command::CommandVariant;
use goblin::{Object, elf, mach, pe};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// The facts of a library for a program that loads it at run time.
///
/// `visibleToCopies`: it has what `crates/napi/src/copies` recognizes another copy by in memory. Windows has nothing of that in the
/// file.
pub(crate) fn facts(bytes: &[u8]) -> Result<Value, Failure> {
    match Object::parse(bytes)? {
        Object::Elf(file) => elf_facts(&file, bytes),
        Object::Mach(mach::Mach::Binary(file)) => mach_facts(&file, bytes),
        Object::PE(file) => Ok(pe_facts(&file)),
        _ => Err("not an ELF, Mach-O or PE library for one processor".into()),
    }
}

fn elf_facts(file: &elf::Elf<'_>, bytes: &[u8]) -> Result<Value, Failure> {
    let cpu = match file.header.e_machine {
        elf::header::EM_X86_64 => "x64",
        elf::header::EM_AARCH64 => "arm64",
        _ => "another",
    };
    let name = |at| file.dynstrtab.get_at(at).ok_or("a name that the file lacks");
    let mut versions = Vec::new();
    for library in file.verneed.iter().flat_map(elf::symver::VerneedSection::iter) {
        for version in &library {
            versions.push(name(version.vna_name)?);
        }
    }
    let (mut required, mut exports) = (Vec::new(), Vec::new());
    for (index, symbol) in file.dynsyms.iter().enumerate().filter(|(_, symbol)| symbol.st_name != 0) {
        if !symbol.is_import() {
            exports.push(name(symbol.st_name)?);
        } else if symbol.st_bind() != elf::sym::STB_WEAK {
            let version = file.versym.as_ref().and_then(|table| table.get_at(index));
            let has_version = version.is_some_and(|version| !version.is_local() && !version.is_global());
            required.push(json!({ "name": name(symbol.st_name)?, "hasVersion": has_version }));
        }
    }
    let dynamic = file.dynamic.as_ref().ok_or("no dynamic section")?;
    // By the program headers, as another copy looks.
    let (mut visible, mut newer_processor) = (false, false);
    for note in file.iter_note_headers(bytes).into_iter().flatten().flatten() {
        visible |= note.name == "frazil" && note.n_type == 1;
        let is_property = note.name == "GNU" && note.n_type == elf::note::NT_GNU_PROPERTY_TYPE_0;
        newer_processor |= is_property && needs_newer_processor(note.desc);
    }
    let searches: Vec<_> = file.rpaths.iter().chain(&file.runpaths).collect();
    // Without this header the stack is executable, too.
    let stack = file.program_headers.iter().find(|header| header.p_type == elf::program_header::PT_GNU_STACK);
    Ok(json!({
        "format": "elf",
        "library": file.is_lib,
        "cpu": cpu,
        "needs": file.libraries,
        "versions": versions,
        // Without those that the program looks for and can do without (weak).
        "required": required,
        "exports": exports,
        "neverUnloaded": dynamic.info.flags_1 & DF_1_NODELETE != 0,
        "executableStack": stack.is_none_or(elf::ProgramHeader::is_executable),
        "bindsOwnSymbols": dynamic.info.flags & DF_SYMBOLIC != 0 || has_tag(dynamic, DT_SYMBOLIC),
        "visibleToCopies": visible,
        "searches": searches,
        "loaderTags": loader_tags(dynamic),
        "newerProcessor": newer_processor,
    }))
}

fn has_tag(dynamic: &elf::Dynamic, tag: u64) -> bool {
    dynamic.dyns.iter().any(|entry| entry.d_tag == tag)
}

/// The entries of the dynamic section that a loader may refuse, that an older one does not know, or that name more libraries.
fn loader_tags(dynamic: &elf::Dynamic) -> Vec<&'static str> {
    // Those that goblin has no names for are of the ELF specification (gABI).
    const NAMES: [(u64, &str); 4] = [(DT_TEXTREL, "TEXTREL"), (36, "RELR"), (0x7fff_fffd, "AUXILIARY"), (0x7fff_ffff, "FILTER")];
    let present = NAMES.iter().filter(|(tag, _)| has_tag(dynamic, *tag));
    let mut names: Vec<_> = present.map(|&(_, name)| name).collect();
    if dynamic.info.flags_1 & DF_1_NOOPEN != 0 {
        names.push("NOOPEN");
    }
    names
}

/// Whether a note asks for more than the first x86-64 (`GNU_PROPERTY_X86_ISA_1_NEEDED` of the x86-64 psABI: one bit for each level).
fn needs_newer_processor(properties: &[u8]) -> bool {
    const NEEDED: u32 = 0xc000_8002;
    const BASELINE: u32 = 1;
    // Of each: type, number of bytes, and the bytes, filled up to a multiple of 8.
    let mut rest = properties;
    while let Some((&[t0, t1, t2, t3, n0, n1, n2, n3], data)) = rest.split_first_chunk::<8>() {
        let (kind, length) = (u32::from_le_bytes([t0, t1, t2, t3]), u32::from_le_bytes([n0, n1, n2, n3]) as usize);
        if kind == NEEDED && data.first_chunk().is_some_and(|&bits| u32::from_le_bytes(bits) > BASELINE) {
            return true;
        }
        rest = data.get(length.next_multiple_of(8)..).unwrap_or_default();
    }
    false
}

fn mach_facts(file: &mach::MachO<'_>, bytes: &[u8]) -> Result<Value, Failure> {
    let cpu = match file.header.cputype() {
        mach::constants::cputype::CPU_TYPE_X86_64 => "x64",
        mach::constants::cputype::CPU_TYPE_ARM64 => "arm64",
        _ => "another",
    };
    let (mut minimum, mut signature) = (None, None);
    for command in &file.load_commands {
        match command.command {
            CommandVariant::BuildVersion(version) => minimum = Some(version.minos),
            CommandVariant::VersionMinMacosx(version) => minimum = Some(version.version),
            CommandVariant::CodeSignature(place) => signature = Some(place),
            _ => {}
        }
    }
    let mut visible = false;
    for section in file.segments.sections().flatten() {
        let (section, _) = section?;
        visible |= section.segname()? == "__DATA" && section.name()? == "__frazil";
    }
    // The first library is the file itself.
    let needs: Vec<_> = file.libs.iter().skip(1).collect();
    let imports: Vec<_> = file.imports()?.into_iter().map(|import| import.name).collect();
    let exports: Vec<_> = file.exports()?.into_iter().map(|export| export.name).collect();
    // The linker's names begin with an underscore.
    let plain = |name: &str| name.strip_prefix('_').unwrap_or(name).to_owned();
    Ok(json!({
        "format": "mach-o",
        "library": file.header.filetype == mach::header::MH_DYLIB,
        "cpu": cpu,
        "needs": needs,
        "visibleToCopies": visible,
        "minimumMacos": minimum.map(|version| format!("{}.{}", version >> 16, version >> 8 & 0xff)),
        "imports": imports.iter().map(|name| plain(name)).collect::<Vec<_>>(),
        "exports": exports.iter().map(|name| plain(name)).collect::<Vec<_>>(),
        "signature": match signature {
            Some(place) => signature_of(bytes, place.dataoff as usize)?,
            None => "none",
        },
    }))
}

/// "ad hoc" if the file has such a signature and its hashes are those of its pages; else what is wrong.
///
/// Apple's `cs_blobs.h`: a superblob lists blobs, of which the code directory has type 0. All numbers are big-endian.
fn signature_of(bytes: &[u8], start: usize) -> Result<&'static str, Failure> {
    const CODE_DIRECTORY: u32 = 0xfade_0c02;
    const AD_HOC: u32 = 2;
    const SHA256: u8 = 2;
    let number = |at: usize| -> Result<u32, Failure> {
        let four = bytes.get(at..at + 4).ok_or("the signature ends early")?;
        Ok(u32::from_be_bytes(four.try_into()?))
    };
    let byte = |at: usize| bytes.get(at).copied().ok_or("the signature ends early");
    let mut directory = None;
    for index in 0..number(start + 8)? as usize {
        let entry = start + 12 + 8 * index;
        if number(entry)? == 0 {
            directory = Some(start + number(entry + 4)? as usize);
        }
    }
    let Some(directory) = directory else { return Ok("without a code directory") };
    if number(directory)? != CODE_DIRECTORY || byte(directory + 37)? != SHA256 {
        return Ok("of an unknown kind");
    }
    if number(directory + 12)? & AD_HOC == 0 {
        return Ok("not ad hoc");
    }
    let hashes = directory + number(directory + 16)? as usize;
    let (pages, limit) = (number(directory + 28)? as usize, number(directory + 32)? as usize);
    let page_bytes = 1_usize << byte(directory + 39)?;
    let code = bytes.get(..limit).ok_or("the signature covers more than the file")?;
    if limit.div_ceil(page_bytes) != pages {
        return Ok("of a part of the file");
    }
    let fits = code.chunks(page_bytes).enumerate().all(|(page, content)| {
        let at = hashes + Sha256::output_size() * page;
        bytes.get(at..at + Sha256::output_size()) == Some(Sha256::digest(content).as_slice())
    });
    Ok(if fits { "ad hoc" } else { "of other content" })
}

fn pe_facts(file: &pe::PE<'_>) -> Value {
    let cpu = match file.header.coff_header.machine {
        pe::header::COFF_MACHINE_X86_64 => "x64",
        pe::header::COFF_MACHINE_ARM64 => "arm64",
        _ => "another",
    };
    let imports: Vec<_> = file.imports.iter().map(|import| import.name.as_ref()).collect();
    let exports: Vec<_> = file.exports.iter().filter_map(|export| export.name).collect();
    json!({
        "format": "pe",
        "library": file.is_lib,
        "cpu": cpu,
        "needs": file.libraries,
        "imports": imports,
        "exports": exports,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    const PAGE_BYTES: usize = 4096;
    /// Two pages and a part of a third.
    const CODE_BYTES: usize = 2 * PAGE_BYTES + 100;
    /// Where the signature begins, in it the code directory, and in that the hashes.
    const SIGNATURE: usize = CODE_BYTES;
    const DIRECTORY: usize = SIGNATURE + 20;
    const HASHES: usize = 44;

    fn write(bytes: &mut [u8], at: usize, number: usize) {
        bytes[at..at + 4].copy_from_slice(&u32::try_from(number).unwrap().to_be_bytes());
    }

    /// A file that is signed ad hoc.
    fn signed() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..CODE_BYTES).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let hashes: Vec<u8> = bytes.chunks(PAGE_BYTES).flat_map(Sha256::digest).collect();
        bytes.resize(DIRECTORY + HASHES, 0);
        // The superblob lists one blob: of type 0, 20 bytes after the begin of the superblob.
        for (at, number) in [(0, 0xfade_0cc0), (8, 1), (12, 0), (16, 20)] {
            write(&mut bytes, SIGNATURE + at, number);
        }
        for (at, number) in [(0, 0xfade_0c02), (12, 2), (16, HASHES), (28, 3), (32, CODE_BYTES)] {
            write(&mut bytes, DIRECTORY + at, number);
        }
        // SHA-256, and the logarithm of the length of a page.
        bytes[DIRECTORY + 37] = 2;
        bytes[DIRECTORY + 39] = 12;
        bytes.extend(hashes);
        bytes
    }

    fn after(change: impl FnOnce(&mut Vec<u8>)) -> &'static str {
        let mut bytes = signed();
        change(&mut bytes);
        signature_of(&bytes, SIGNATURE).unwrap()
    }

    #[test]
    fn an_ad_hoc_signature_is_recognized() {
        assert_eq!(after(|_| ()), "ad hoc");
    }

    #[test]
    fn a_change_of_any_page_is_detected() {
        for at in [0, PAGE_BYTES - 1, PAGE_BYTES, CODE_BYTES - 1] {
            assert_eq!(after(|bytes| bytes[at] ^= 1), "of other content", "byte {at}");
        }
        assert_eq!(after(|bytes| *bytes.last_mut().unwrap() ^= 1), "of other content");
    }

    #[test]
    fn a_signature_of_a_part_of_the_pages_is_refused() {
        assert_eq!(after(|bytes| write(bytes, DIRECTORY + 28, 2)), "of a part of the file");
    }

    #[test]
    fn a_signature_that_is_not_ad_hoc_or_not_understood_is_refused() {
        assert_eq!(after(|bytes| write(bytes, DIRECTORY + 12, 0)), "not ad hoc");
        assert_eq!(after(|bytes| bytes[DIRECTORY + 37] = 1), "of an unknown kind");
        assert_eq!(after(|bytes| write(bytes, DIRECTORY, 0)), "of an unknown kind");
        assert_eq!(after(|bytes| write(bytes, SIGNATURE + 12, 1)), "without a code directory");
    }

    #[test]
    fn a_signature_that_ends_early_is_an_error() {
        let bytes = signed();
        for length in [SIGNATURE + 8, DIRECTORY + 4, DIRECTORY + 39] {
            assert!(signature_of(&bytes[..length], SIGNATURE).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_an_error() {
        assert!(facts(b"").is_err());
        assert!(facts(b"no library, and longer than the header of any format").is_err());
    }
}
