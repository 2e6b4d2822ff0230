//! Processor time of processes. Unlike pages per second, it hardly depends on the other load of the
//! machine.

use std::fs;
use std::time::Duration;

use crate::stores::{AnyError, Database};

/// The duration of one tick of the kernel's accounting, on every common Linux.
const TICK: Duration = Duration::from_millis(10);

/// The processes that answer: the server, and the database server behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    process: u32,
    postmaster: Option<u32>,
}

impl Meter {
    /// Measures a process that uses this database.
    ///
    /// # Errors
    ///
    /// When the database server is not on this machine.
    pub(crate) fn new(process: u32, database: &str) -> Result<Self, AnyError> {
        let postmaster = match Database::parse(database)? {
            Database::Sqlite(_) => None,
            Database::Postgres(url) => {
                let parent = |backend| Ok(Times::of(backend)?.parent);
                Some(super::bare_postgres::at_backend(url, parent)?)
            }
        };
        Ok(Self { process, postmaster })
    }

    /// Measures one process only.
    pub(crate) const fn alone(process: u32) -> Self {
        Self { process, postmaster: None }
    }

    /// The processor time they have used so far.
    ///
    /// # Errors
    ///
    /// When one of them has ended.
    pub(crate) fn used(self) -> Result<Duration, AnyError> {
        let mut ticks = Times::of(self.process)?.own;
        if let Some(postmaster) = self.postmaster {
            let times = Times::of(postmaster)?;
            ticks += times.own + times.of_ended_children;
            for entry in fs::read_dir("/proc")?.flatten() {
                let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
                // Processes may start and end while they are listed.
                if let Some(Ok(child)) = id.map(Times::of)
                    && child.parent == postmaster
                {
                    ticks += child.own;
                }
            }
        }
        Ok(TICK * u32::try_from(ticks)?)
    }
}

/// The times that the kernel keeps for a process, in ticks.
struct Times {
    parent: u32,
    own: u64,
    of_ended_children: u64,
}

impl Times {
    fn of(process: u32) -> Result<Self, AnyError> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The name before it may contain anything, including parentheses.
        let (_, rest) = stat.rsplit_once(')').ok_or("an unexpected form of /proc/PID/stat")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |at: usize| -> Result<u64, AnyError> {
            Ok(fields.get(at).ok_or("an unexpected form of /proc/PID/stat")?.parse()?)
        };
        Ok(Self {
            parent: u32::try_from(field(1)?)?,
            own: field(11)? + field(12)?,
            of_ended_children: field(13)? + field(14)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted() {
        let meter = Meter::new(std::process::id(), "sqlite:x").expect("this process is there");
        let before = meter.used().expect("this process is there");
        let mut sum = 0_u64;
        while meter.used().expect("this process is there") < before + TICK * 3 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let parent = Times::of(std::process::id()).expect("this process is there").parent;
        assert!(Times::of(parent).is_ok());
    }
}
