//! What surrounds the process: the wall clock, its environment, the orchestrator that runs it.

use std::env;
use std::path::PathBuf;

use frazil::{Clock, SystemClock};

use crate::os;

/// The wall clock. Where it shows a time before 1970 it is at 0, before every epoch.
pub(crate) fn wall_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(0)
}

/// The path that a variable holds, where it holds any.
pub(crate) fn given(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A home directory: a relative one is none.
pub(crate) fn home(name: &str) -> Option<PathBuf> {
    given(name).filter(|path| path.is_absolute())
}

/// Where state files go: what systemd gave the service (`StateDirectory=`), or the platform's place for such files. `None`
/// where there is neither.
pub(crate) fn default_dir() -> Option<PathBuf> {
    // systemd joins several with colons.
    let service = given("STATE_DIRECTORY").and_then(|paths| env::split_paths(&paths).next());
    service.or_else(os::state_home).map(|dir| dir.join("frazil"))
}

/// Variables by which an orchestrator shows: something that runs many machines, or many containers, of one kind.
const ORCHESTRATORS: &[(&str, &str)] = &[
    ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
    ("ECS_CONTAINER_METADATA_URI_V4", "Amazon ECS"),
    ("ECS_CONTAINER_METADATA_URI", "Amazon ECS"),
    ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
    ("NOMAD_ALLOC_ID", "Nomad"),
    ("K_SERVICE", "Cloud Run"),
    ("CONTAINER_APP_NAME", "Azure Container Apps"),
    ("FLY_MACHINE_ID", "Fly.io"),
    ("DYNO", "Heroku"),
    // Swarm sets none by itself; these are what the templates of `docker service create --env` are usually given as.
    ("SWARM_TASK_SLOT", "Docker Swarm"),
    ("SWARM_TASK_ID", "Docker Swarm"),
    ("SWARM_SERVICE_ID", "Docker Swarm"),
    ("SWARM_NODE_ID", "Docker Swarm"),
];

/// The variable by which an orchestrator shows, and its name.
pub(crate) fn orchestrator() -> Option<(&'static str, &'static str)> {
    ORCHESTRATORS.iter().copied().find(|(name, _)| given(name).is_some())
}
