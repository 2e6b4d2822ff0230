//! Log lines on their way out: a bounded queue, and the thread that writes them (R162).
//!
//! Whoever logs a line only appends it to the queue. So neither a reader that is gone, a full disk,
//! nor a reader that does not read can fail or delay anything but the log.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use metrics::{Unit, counter, describe_counter};
use tracing_subscriber::fmt::MakeWriter;

const LOST: &str = "recado_log_lines_lost_total";

/// The most bytes that wait to be written. A line that does not fit is lost.
const MAX_BYTES: usize = 1024 * 1024;

/// The queue of lines. Clones share it.
#[derive(Clone)]
pub(crate) struct LogLines(Arc<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    written: Condvar,
    /// Lines that were lost since the log last said so.
    lost: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    /// The bytes of all lines that are not written yet, also of those that the thread has taken.
    bytes: usize,
}

impl LogLines {
    /// Starts the thread, which writes to `out` as long as the process lives.
    ///
    /// # Errors
    ///
    /// When the system has no thread left.
    pub(crate) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        describe_counter!(LOST, Unit::Count, "Log lines that could not be written.");
        // The metric is shown from the start, as 0.
        counter!(LOST).increment(0);
        let queue = Arc::new(Queue::default());
        let written = Arc::clone(&queue);
        thread::Builder::new().name("recado-log".to_owned()).spawn(move || run(&written, out))?;
        Ok(Self(queue))
    }

    /// Waits until all lines are written or lost, or until `limit` has passed.
    pub(crate) fn finish(&self, limit: Duration) {
        let unwritten = |waiting: &mut Waiting| waiting.bytes > 0;
        drop(self.0.written.wait_timeout_while(self.0.waiting(), limit, unwritten));
    }

    fn push(&self, line: &[u8]) {
        let mut waiting = self.0.waiting();
        if waiting.bytes.saturating_add(line.len()) > MAX_BYTES {
            drop(waiting);
            return self.0.lose();
        }
        waiting.bytes += line.len();
        waiting.lines.push_back(line.to_vec());
        drop(waiting);
        self.0.arrived.notify_one();
    }
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a lost line.
    fn lose(&self) {
        counter!(LOST).increment(1);
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

fn run(queue: &Queue, mut out: impl Write) {
    loop {
        let waiting = queue.waiting();
        let arrived = queue.arrived.wait_while(waiting, |waiting| waiting.lines.is_empty());
        let lines = std::mem::take(&mut arrived.unwrap_or_else(PoisonError::into_inner).lines);
        for line in lines {
            let written = out.write_all(&line).and_then(|()| out.flush());
            match written {
                Ok(()) => tell_lost(queue),
                Err(_) => queue.lose(),
            }
            queue.waiting().bytes -= line.len();
        }
        queue.written.notify_all();
    }
}

/// Logs how many lines were lost before, once a line can be written again.
fn tell_lost(queue: &Queue) {
    let lines = queue.lost.swap(0, Ordering::Relaxed);
    if lines > 0 {
        tracing::warn!(lines, "log lines were lost because they could not be written");
    }
}

/// Takes one line for the queue. It never fails.
pub(crate) struct Line(LogLines);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for LogLines {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        Line(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Shows what is written, and may fail.
    struct Shown(mpsc::Sender<Vec<u8>>, fn(&[u8]) -> io::Result<()>);

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            (self.1)(bytes)?;
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// R162.
    #[test]
    fn a_line_that_cannot_be_written_is_lost_and_those_after_it_are_written() {
        let (written, shown) = mpsc::channel();
        let full = |bytes: &[u8]| match bytes {
            b"second\n" => Err(io::Error::from(io::ErrorKind::StorageFull)),
            _ => Ok(()),
        };
        let lines = LogLines::start(Shown(written, full)).expect("a thread");
        for line in ["first\n", "second\n", "third\n"] {
            lines.make_writer().write_all(line.as_bytes()).expect("never fails");
        }
        lines.finish(LONG);
        let shown: Vec<Vec<u8>> = shown.try_iter().collect();
        assert_eq!(shown, [b"first\n".to_vec(), b"third\n".to_vec()]);
    }

    /// Writes nothing until it may.
    struct Stuck(mpsc::Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // An error means that the test has ended.
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// R162.
    #[test]
    fn a_reader_that_does_not_read_delays_nobody_and_costs_a_bounded_amount_of_memory() {
        let (reads, gate) = mpsc::channel();
        let lines = LogLines::start(Stuck(gate)).expect("a thread");
        let line = [b'x'; 1024];
        for _ in 0..4 * 1024 {
            lines.make_writer().write_all(&line).expect("never fails");
        }
        assert!(lines.0.waiting().bytes <= MAX_BYTES);
        assert_eq!(lines.0.lost.load(Ordering::Relaxed), 3 * 1024, "what does not fit is lost");
        // A stop waits for such a reader only up to a limit.
        lines.finish(Duration::from_millis(1));
        drop(reads);
        lines.finish(LONG);
        assert_eq!(lines.0.waiting().bytes, 0);
        assert_eq!(lines.0.lost.load(Ordering::Relaxed), 0, "the log has said what was lost");
    }
}
