//! Environment variables: paths, and the orchestrator that runs this process.

use std::env;
use std::path::PathBuf;

/// The path in a variable; `None` if the variable is missing or empty.
pub(crate) fn path_in(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The path in a variable, if it is absolute.
pub(crate) fn absolute_path_in(name: &str) -> Option<PathBuf> {
    path_in(name).filter(|path| path.is_absolute())
}

/// Variables that show an orchestrator: something that runs many machines or containers of one kind.
const ORCHESTRATORS: &[(&str, &str)] = &[
    ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
    ("ECS_CONTAINER_METADATA_URI_V4", "Amazon ECS"),
    ("ECS_CONTAINER_METADATA_URI", "Amazon ECS"),
    ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
    ("NOMAD_ALLOC_ID", "Nomad"),
    ("K_SERVICE", "Cloud Run"),
    ("CLOUD_RUN_JOB", "Cloud Run"),
    ("CONTAINER_APP_NAME", "Azure Container Apps"),
    ("WEBSITE_INSTANCE_ID", "Azure App Service"),
    ("RENDER", "Render"),
    ("RAILWAY_REPLICA_ID", "Railway"),
    ("FLY_MACHINE_ID", "Fly.io"),
    ("DYNO", "Heroku"),
    // Swarm sets no variable. These are the usual names for its templates in `docker service create --env`.
    ("SWARM_TASK_SLOT", "Docker Swarm"),
    ("SWARM_TASK_ID", "Docker Swarm"),
    ("SWARM_SERVICE_ID", "Docker Swarm"),
    ("SWARM_NODE_ID", "Docker Swarm"),
];

/// A variable that shows an orchestrator, and the name of the orchestrator.
pub(crate) fn orchestrator() -> Option<(&'static str, &'static str)> {
    ORCHESTRATORS.iter().copied().find(|(name, _)| path_in(name).is_some())
}
