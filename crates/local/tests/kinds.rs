//! A generator of a registry and one of a state file share no state, so for one layout and node id a process can have only one
//! kind.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashSet;
use std::path::PathBuf;

use frazil::clock::ManualClock;
use frazil::error::Rule;
use frazil::{Code, GeneratorOptions, Layout, Node, Registry};
use frazil_local::{Local, LocalOptions};

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-kinds-{name}-{}", std::process::id())))
    }

    fn open(&self, node: u64, scope: Option<&str>) -> Result<Local, frazil_local::Fault> {
        let (dir, scope) = (Some(self.0.clone()), scope.map(str::to_owned));
        Local::open(
            &layout(),
            LocalOptions { dir, node: Some(Node::Id(node)), scope, accept_unproven_platform: true, ..LocalOptions::default() },
        )
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn layout() -> Layout {
    Layout::named("default").unwrap()
}

fn open_static(node: u64) -> frazil::Result<frazil::Generator> {
    Registry::new().open(&layout(), GeneratorOptions::new(Node::Id(node)))
}

// The tests of this file run in one process, so each uses a node id of its own.

#[test]
fn the_second_kind_is_refused() {
    let directory = TestDirectory::new("second");
    open_static(1).unwrap();
    assert_eq!(directory.open(1, None).unwrap_err().code(), Code::StateConflict);
    assert!(!directory.0.exists(), "a refused opening makes no file");

    drop(directory.open(2, None).unwrap());
    let error = open_static(2).unwrap_err();
    assert_eq!((error.code(), error.rule()), (Code::StateConflict, Rule::OneKind));
    directory.open(2, None).unwrap();
}

#[test]
fn an_opening_that_fails_leaves_the_node_id_to_a_registry() {
    let nowhere = LocalOptions {
        dir: Some("/proc".into()),
        node: Some(Node::Id(3)),
        accept_unproven_platform: true,
        ..LocalOptions::default()
    };
    assert_ne!(Local::open(&layout(), nowhere).unwrap_err().code(), Code::StateConflict);
    open_static(3).unwrap();
}

#[test]
fn ids_of_another_scope_can_be_equal() {
    let directory = TestDirectory::new("scope");
    let registered = open_static(4).unwrap();
    let equal = |attempt: u32| {
        let shop = directory.open(4, Some(&format!("shop-{attempt}"))).unwrap();
        // A time at which both have begun: each issues nothing in the second after it was opened, which others could have borrowed.
        let now_ms = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let clock = ManualClock::new(u64::try_from(now_ms).unwrap() + 1500);
        let mint = |ids: &frazil::Generator| [(); 100].map(|()| ids.next(&clock).unwrap());
        let issued: HashSet<u64> = [mint(&shop), mint(&registered)].concat().into_iter().collect();
        issued.len() == 100
    };
    // On a loaded machine the ceiling may be raised in between, to the time of the system: then the two have other times.
    assert!((0..1000).any(equal), "without the rule the two would repeat each other");
}
