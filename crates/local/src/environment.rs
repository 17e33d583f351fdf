//! The environment of the process: its variables, and the orchestrator that they show.

use std::env;
use std::path::PathBuf;

/// The path that a variable holds, where it holds any.
pub(crate) fn path_in(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A home directory: a relative one is none.
pub(crate) fn absolute_path_in(name: &str) -> Option<PathBuf> {
    path_in(name).filter(|path| path.is_absolute())
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
    ORCHESTRATORS.iter().copied().find(|(name, _)| path_in(name).is_some())
}
