//! A request to open a state file: checks the options, and finds the file that they lead to. Both ways of opening use it.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frazil::abi::is_scope;
use frazil::error::{Rule, Subject};
use frazil::mint::{DEFAULT_SCOPE, Machine, SequenceStart};
use frazil::{Code, Error};

use crate::attachment::Attachment;
use crate::clock::wall_ms;
use crate::environment::{orchestrator, path_in};
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::open_files::attach_or_share;
use crate::os;
use crate::platforms;

/// The default of how long an opening may wait for the first ID.
const START_WAIT_MS: u64 = 3500;

/// What was asked for. Both the options of [`crate::Local::open`] and the request of `Snowflake.local()` lead to it.
pub(crate) struct OpenRequest {
    pub(crate) machine: Machine,
    pub(crate) node_missing: bool,
    pub(crate) sequence_start: SequenceStart,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) scope: Option<String>,
    pub(crate) file_system: Option<String>,
    pub(crate) start_wait_ms: Option<u64>,
    pub(crate) accept_unproven_platform: bool,
}

impl OpenRequest {
    /// Checks the request and attaches to the file. Returns also how long it is until the first ID.
    pub(crate) fn attach(self) -> Result<(Arc<Attachment>, u64), Fault> {
        platforms::check(platforms::THIS, self.accept_unproven_platform)?;
        if self.node_missing
            && let Some((variable, orchestrator)) = orchestrator()
        {
            let text = format!("node must be given, since {orchestrator} runs this process (the variable {variable} is set)");
            let hint = "Every other machine or container without a node would mint the same IDs. Take node ids from a store, with await \
                        lease(store), or number them and pass node. If there is only one machine and the layout has no node field, pass \
                        \"none\".";
            return Err(Fault::new(Code::NodeRequired, Subject::Node, text, hint));
        }
        let start_wait_ms = self.start_wait_ms.unwrap_or(START_WAIT_MS);
        let epoch_ms = self.machine.tick_from(0);
        let spec = self.spec()?;
        // Before the epoch no ID can be minted, and such a clock must not count as a sighting in the file.
        if wall_ms() < epoch_ms {
            return Err(Error::with_subject(Code::ClockBeforeEpoch, Subject::Generator).into());
        }
        // A process without that clock must find out before it has touched the file.
        os::since_boot_ms().map_err(|cause| Fault::failed(spec.path(), "used, because there is no clock", &cause))?;
        attach_or_share(&spec, start_wait_ms)
    }

    /// The file that the options lead to.
    fn spec(self) -> Result<FileSpec, Fault> {
        let invalid = |subject, rule| Error::bad_input(Code::InvalidOption, subject, rule);
        let scope = self.scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned());
        if !is_scope(&scope) {
            return Err(invalid(Subject::Scope, Rule::NameSyntax).into());
        }
        let dir = match self.dir {
            Some(dir) if dir.as_os_str().is_empty() || dir.as_os_str().as_encoded_bytes().contains(&0) => {
                return Err(invalid(Subject::Dir, Rule::APath).into());
            }
            Some(dir) => dir,
            None => default_dir().ok_or_else(|| {
                let text = format!("dir must be given, since none of {} is set to a directory", os::STATE_VARIABLES);
                let hint = "Pass the one that other programs of this machine use, if there are any: two state files repeat each other's IDs.";
                Fault::new(Code::InvalidOption, Subject::Dir, text, hint)
            })?,
        };
        if dir.is_relative() {
            return Err(relative(&dir));
        }
        let dir = std::path::absolute(&dir).map_err(|cause| Fault::failed(&dir, "found", &cause))?;
        Ok(FileSpec::new(&dir, scope, self.machine, self.sequence_start, self.file_system))
    }
}

/// The refusal of a directory that is another one in each working directory: two programs with two files repeat each other's IDs.
fn relative(dir: &Path) -> Fault {
    let hint = if dir.starts_with("~") {
        " Shells write the home directory for ~; pass its path.".to_owned()
    } else {
        std::path::absolute(dir).map_or_else(|_| String::new(), |here| format!(" From here it is {}.", here.display()))
    };
    let text = format!("dir must be an absolute path, got {}", dir.display());
    let why = "A relative path depends on the working directory, and programs with two state files repeat each other's IDs.";
    Fault::new(Code::InvalidOption, Subject::Dir, text, format!("{why}{hint}"))
}

/// The default directory of state files: in the directory that systemd gave the service (`StateDirectory=`), else where the
/// platform puts such files. `None` if there is neither. It looks at variables alone, and makes nothing.
#[must_use]
pub fn default_dir() -> Option<PathBuf> {
    // systemd joins several directories with colons.
    let service = path_in("STATE_DIRECTORY").and_then(|paths| env::split_paths(&paths).next());
    service.or_else(os::state_home).map(|dir| dir.join("frazil"))
}
