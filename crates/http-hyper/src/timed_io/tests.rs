use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const PATIENCE: Patience = Patience {
    head: Duration::from_secs(10),
    idle: Duration::from_secs(60),
    write: Duration::from_secs(30),
};

fn pair() -> (DuplexStream, TimedIo<DuplexStream>, Phase) {
    let (peer, ours) = tokio::io::duplex(16);
    let phase = Phase::default();
    let timed = TimedIo::new(ours, PATIENCE, phase.clone());
    (peer, timed, phase)
}

async fn read_error(timed: &mut TimedIo<DuplexStream>) -> io::ErrorKind {
    let mut buf = [0; 16];
    loop {
        match timed.read(&mut buf).await {
            Ok(0) => return io::ErrorKind::UnexpectedEof,
            Ok(_) => {}
            Err(error) => return error.kind(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_trickle_of_bytes_does_not_renew_the_time_of_a_head() {
    let (mut peer, mut timed, _phase) = pair();
    let began = Instant::now();
    let trickle = async {
        while peer.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    };
    tokio::select! {
        kind = read_error(&mut timed) => assert_eq!(kind, io::ErrorKind::TimedOut),
        () = trickle => unreachable!("the reader gives up first"),
    }
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_has_more_time_until_its_next_head_begins() {
    let (mut peer, mut timed, phase) = pair();
    phase.idle();
    let began = Instant::now();
    let late = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        peer.write_all(b"G").await.expect("still open");
        std::future::pending::<()>().await;
    };
    tokio::select! {
        kind = read_error(&mut timed) => assert_eq!(kind, io::ErrorKind::TimedOut),
        () = late => {}
    }
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn the_head_after_a_slow_answer_has_its_full_time() {
    let (mut peer, mut timed, phase) = pair();
    peer.write_all(b"GET").await.expect("open");
    timed.read_exact(&mut [0; 3]).await.expect("the first head");
    phase.busy();
    tokio::time::advance(Duration::from_secs(20)).await;
    phase.idle();
    peer.write_all(b"G").await.expect("open");
    let began = Instant::now();
    assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn it_is_idle_only_once_the_whole_answer_is_written() {
    let (mut peer, mut timed, phase) = pair();
    phase.busy();
    // More than the peer takes at once.
    let written = tokio::time::timeout(Duration::from_secs(1), timed.write_all(&[0; 20])).await;
    assert!(written.is_err() && !phase.is_idle());
    timed.flush().await.expect("open");
    assert!(!phase.is_idle(), "the rest of the answer is still to come");
    peer.read_exact(&mut [0; 16]).await.expect("open");
    timed.write_all(&[0; 4]).await.expect("open");
    phase.answered();
    assert!(!phase.is_idle());
    timed.flush().await.expect("open");
    assert!(phase.is_idle());
    let began = Instant::now();
    assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_begins_while_an_answer_is_written_has_the_time_of_a_head() {
    let (mut peer, mut timed, phase) = pair();
    phase.busy();
    phase.answered();
    peer.write_all(b"G").await.expect("open");
    timed.read_exact(&mut [0; 1]).await.expect("open");
    timed.flush().await.expect("open");
    let began = Instant::now();
    assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn while_a_request_is_answered_reading_has_no_time_limit() {
    let (_peer, mut timed, phase) = pair();
    phase.busy();
    let reading = tokio::time::timeout(Duration::from_secs(3600), read_error(&mut timed));
    assert!(reading.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_is_given_up() {
    let (_peer, mut timed, _phase) = pair();
    let error = timed.write_all(&[0; 64]).await.expect_err("stalled");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

/// Reads so many bytes every second, and says after how many seconds the connection failed and
/// how many bytes had been read.
async fn read_slowly(
    phase: Phase,
    mut timed: TimedIo<DuplexStream>,
    mut peer: DuplexStream,
    bytes: usize,
) -> (u64, usize) {
    phase.answers(true);
    phase.idle();
    let began = Instant::now();
    let mut read = 0;
    let reading = async {
        let mut buf = vec![0; bytes];
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            peer.read_exact(&mut buf).await.expect("there is more");
            read += bytes;
        }
    };
    let writing = async { while timed.write_all(&[0; 1024]).await.is_ok() {} };
    tokio::select! {
        () = writing => {}
        () = reading => {}
        () = tokio::time::sleep(Duration::from_secs(3_600)) => {}
    }
    (began.elapsed().as_secs(), read)
}

/// R192.
#[tokio::test(start_paused = true)]
async fn who_reads_a_file_below_the_pace_is_given_up_and_who_keeps_it_is_not() {
    const KIB: usize = 1024;
    let file = |bytes| async move {
        let (peer, ours) = tokio::io::duplex(16 * KIB);
        let phase = Phase::default();
        let timed = TimedIo::new(ours, PATIENCE, phase.clone());
        read_slowly(phase, timed, peer, bytes).await
    };
    let (seconds, read) = file(1).await;
    assert!((10..=12).contains(&seconds) && read <= 12, "{seconds} s, {read} bytes");
    let (seconds, read) = file(8 * KIB).await;
    assert!((20..=24).contains(&seconds), "{seconds} s, {read} bytes");
    let (seconds, _) = file(16 * KIB).await;
    assert_eq!(seconds, 3_600, "it keeps the pace");
}

/// R192.
#[tokio::test(start_paused = true)]
async fn time_in_which_nothing_waits_to_be_read_does_not_count() {
    let (mut peer, mut timed, phase) = pair();
    phase.answers(true);
    phase.idle();
    let mut buf = [0; 16];
    for _ in 0..100 {
        timed.write_all(&[0; 16]).await.expect("written");
        peer.read_exact(&mut buf).await.expect("read");
        // The store is slow.
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// R192.
#[tokio::test(start_paused = true)]
async fn other_answers_have_no_pace_and_each_file_has_its_own() {
    let (mut peer, mut timed, phase) = pair();
    let mut buf = [0; 1];
    timed.write_all(&[0; 16]).await.expect("that fits in");
    for is_file in [true, false, true, true, false] {
        phase.busy();
        phase.answers(is_file);
        phase.idle();
        for second in 0..if is_file { 9 } else { 60 } {
            let reading = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                peer.read_exact(&mut buf).await.expect("open");
            };
            let (written, ()) = tokio::join!(timed.write_all(&[0; 1]), reading);
            written.unwrap_or_else(|error| panic!("{is_file} {second}: {error}"));
        }
    }
}
