//! Reading bodies of unverified callers that may be large. The share of memory of such a body
//! depends on the bytes that have arrived, not on its declared size, and the body must arrive at a
//! minimum pace.

use std::pin::pin;
use std::time::Duration;

use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

use crate::body::{BodyError, Bound, RequestBody, check_declared, check_encoding};
use crate::budget::{MemoryBudget, Share};

/// How long a body waits for memory before its sender is asked to repeat the call. It is less than
/// gateways wait for an answer.
const ROOM_WAIT: Duration = Duration::from_secs(5);
/// How long a body with a share may be behind the pace.
const LAG: Duration = Duration::from_secs(5);
/// The pace: how many bytes a second of a body with a share have to arrive.
const PACE: usize = 256 * 1024;

/// Reads a body whose part beyond the free bytes needs memory: `share` grows by it. Keep the share
/// until the body is dropped. A body that has to give way to others finds no room (R183).
///
/// The share grows as the body arrives, to at most twice the bytes that have arrived.
pub(crate) async fn receive(
    headers: &HeaderMap,
    body: RequestBody,
    bound: Bound,
    mut share: Share,
) -> Result<(Vec<u8>, Share), BodyError> {
    check_declared(headers, bound.bytes)?;
    check_encoding(headers)?;
    let mut body = pin!(body);
    let size = body.size_hint();
    let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    if whole(size.lower()) > bound.bytes {
        return Err(BodyError::TooLarge(bound.bytes));
    }
    let most = size.upper().map_or(bound.bytes, whole).min(bound.bytes);
    let end = Instant::now() + bound.time;
    let mut bytes = Vec::with_capacity(whole(size.lower()).min(MemoryBudget::FREE));
    let mut room = MemoryBudget::FREE;
    // Since when it has held a share; the time in which it waited for more memory does not count.
    let mut holding: Option<Instant> = None;
    loop {
        let late = holding.map(|since| since + LAG + due(bytes.len()));
        let by = late.map_or(end, |late| late.min(end));
        let frame = tokio::select! {
            frame = timeout_at(by, body.frame()) => frame.map_err(|_| BodyError::Slow)?,
            cut = share.cut() => return Err(cut.into()),
        };
        let Some(frame) = frame else {
            share.arrived()?;
            return Ok((bytes, share));
        };
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        let needed = bytes.len() + data.len();
        if needed > bound.bytes {
            return Err(BodyError::TooLarge(bound.bytes));
        }
        if needed > room {
            room = needed.max(most.min(2 * bytes.len()));
            let asked = Instant::now();
            let growing = share.grow(room - MemoryBudget::FREE);
            let waited = timeout_at(end.min(asked + ROOM_WAIT), growing).await;
            waited.map_err(|_| BodyError::NoRoom)??;
            holding = Some(holding.map_or_else(Instant::now, |since| since + asked.elapsed()));
            bytes.reserve_exact(room - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
}

/// How long so many bytes may take at the pace.
fn due(bytes: usize) -> Duration {
    let millis = bytes.saturating_mul(1000) / PACE;
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures_util::{FutureExt, StreamExt, stream};
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    use super::*;
    use crate::body::erase;
    use crate::fair_shares::tests::sender;

    const KIB: usize = 1024;
    const BOUND: Bound = Bound { bytes: 16 * KIB * KIB, time: Duration::from_secs(30) };

    async fn read(body: RequestBody, budget: &MemoryBudget) -> Result<(usize, Share), BodyError> {
        let read = receive(&HeaderMap::new(), body, BOUND, share(budget)).await;
        read.map(|(bytes, share)| (bytes.len(), share))
    }

    fn share(budget: &MemoryBudget) -> Share {
        budget.share(sender(1, 1))
    }

    fn whole(bytes: usize) -> RequestBody {
        erase(Full::new(Bytes::from(vec![b' '; bytes])))
    }

    /// Frames of so many bytes, each after a while.
    fn frames(frames: Vec<(u64, usize)>) -> impl futures_util::Stream<Item = usize> + Send {
        stream::iter(frames).then(async |(millis, bytes)| {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            bytes
        })
    }

    fn streamed(frames: impl futures_util::Stream<Item = usize> + Send + 'static) -> RequestBody {
        let frames = frames
            .map(|bytes| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; bytes]))))
            .boxed();
        erase(StreamBody::new(frames))
    }

    /// A budget that the returned share exceeds already.
    async fn budget(bytes: usize) -> (MemoryBudget, Share) {
        let budget = MemoryBudget::new(bytes);
        let mut beyond = share(&budget);
        beyond.grow(bytes + 1024 * KIB).await.expect("nobody cuts it off");
        (budget, beyond)
    }

    async fn has_room(budget: &MemoryBudget, bytes: usize) -> bool {
        share(budget).grow(bytes).now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_for_room_that_lapses_is_no_fault_of_the_body() {
        let (budget, _beyond) = budget(KIB * KIB).await;
        let (_, share) = read(whole(KIB * KIB), &budget).await.expect("read");
        let asked = Instant::now();
        let refused = read(whole(KIB * KIB), &budget).await.expect_err("refused");
        assert_eq!((refused, asked.elapsed()), (BodyError::NoRoom, ROOM_WAIT));
        let small = read(whole(MemoryBudget::FREE), &budget).await.expect("needs no room");
        drop(share);
        assert!(read(whole(KIB * KIB), &budget).await.is_ok());
        drop(small);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_the_body_ends_a_wait_for_room_too() {
        let (budget, _beyond) = budget(1).await;
        let bound = Bound { time: Duration::from_secs(1), ..BOUND };
        let asked = Instant::now();
        let body = whole(KIB * KIB);
        let refused = receive(&HeaderMap::new(), body, bound, share(&budget)).await;
        assert_eq!(
            (refused.expect_err("refused"), asked.elapsed()),
            (BodyError::NoRoom, bound.time)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_which_little_arrived_holds_little_whatever_it_declares() {
        let (budget, _beyond) = budget(KIB * KIB).await;
        for (sent, held) in [(0, 0), (64, 0), (65, 64), (200, 192)] {
            let mut sent = vec![(0, 64 * KIB); sent / 64]
                .into_iter()
                .chain((sent % 64 > 0).then_some((0, sent % 64 * KIB)))
                .collect::<Vec<_>>();
            sent.push((60_000, 1));
            let body = streamed(frames(sent));
            let reading = read(body, &budget);
            let mut reading = pin!(reading);
            // The test clock advances only once all of it was read.
            assert!(tokio::time::timeout(Duration::from_secs(1), &mut reading).await.is_err());
            let left = KIB * KIB - held * KIB;
            assert!(has_room(&budget, left).await, "{held}");
            assert!(held == 0 || !has_room(&budget, left + 1).await, "{held}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_a_share_and_stops_or_trickles_is_soon_given_up() {
        let (budget, _beyond) = budget(KIB * KIB).await;
        let stops = vec![(0, 512 * KIB), (60_000, 1)];
        let trickles = [vec![(0, 512 * KIB)], vec![(1_000, 1); 60]].concat();
        for sent in [stops, trickles] {
            let asked = Instant::now();
            let slow = streamed(frames(sent));
            let (slow, other) = tokio::join!(read(slow, &budget), async {
                tokio::time::sleep(Duration::from_secs(3)).await;
                read(whole(KIB * KIB), &budget).await
            });
            assert_eq!(slow.expect_err("refused"), BodyError::Slow);
            assert!(other.is_ok(), "it found room when that was given up");
            assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_keeps_the_pace_may_take_the_whole_time() {
        let budget = MemoryBudget::new(KIB * KIB);
        let steady = vec![(1_000, PACE); 28];
        let (read, _) = read(streamed(frames(steady)), &budget).await.expect("read");
        assert_eq!(read, 28 * PACE);
    }

    #[tokio::test(start_paused = true)]
    async fn time_spent_waiting_for_room_is_not_held_against_a_body() {
        let (budget, _beyond) = budget(2 * KIB * KIB).await;
        let mut other = share(&budget);
        other.grow(1600 * KIB).await.expect("there is room");
        let lagging = vec![(0, 128 * KIB), (0, 512 * KIB), (4_900, 1)];
        let asked = Instant::now();
        let (read, ()) = tokio::join!(read(streamed(frames(lagging)), &budget), async {
            tokio::time::sleep(Duration::from_millis(4_900)).await;
            drop(other);
        });
        assert!(read.is_ok() && asked.elapsed() >= Duration::from_millis(9_800));
    }

    /// R183.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_has_to_give_way_is_refused_at_once_and_its_memory_goes_to_the_other() {
        let (budget, _beyond) = budget(2 * KIB * KIB).await;
        let slow = streamed(frames(vec![(0, 1024 * KIB), (0, 1024 * KIB), (4_000, 1)]));
        let asked = Instant::now();
        let (slow, other) = tokio::join!(read(slow, &budget), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let share = budget.share(sender(2, 1));
            receive(&HeaderMap::new(), whole(KIB * KIB), BOUND, share).await
        });
        assert_eq!(slow.expect_err("refused"), BodyError::NoRoom);
        assert!(other.is_ok() && asked.elapsed() < Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_each_hold_a_part_do_not_wait_for_each_other() {
        let budget = MemoryBudget::new(8 * KIB * KIB);
        let asked = Instant::now();
        // In step, so that each holds a mebibyte when it asks for the next.
        let bodies = (0..8).map(|_| {
            let budget = &budget;
            let sent = vec![(100, KIB * KIB); 4];
            async move { read(streamed(frames(sent)), budget).await.map(|(bytes, _)| bytes) }
        });
        let read = futures_util::future::join_all(bodies).await;
        assert_eq!(read, vec![Ok(4 * KIB * KIB); 8]);
        assert!(asked.elapsed() < ROOM_WAIT, "{:?}", asked.elapsed());
        assert!(has_room(&budget, 8 * KIB * KIB).await, "all was given back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_refused_when_it_breaks_off_and_cut_off_at_the_limit() {
        let budget = MemoryBudget::new(KIB * KIB);
        let broken = stream::iter([Ok(Frame::data(Bytes::from_static(b"{"))), Err("gone")]);
        let refused = read(erase(StreamBody::new(broken)), &budget).await;
        assert_eq!(refused.expect_err("refused"), BodyError::Broken);
        let long = streamed(stream::repeat(BOUND.bytes / 2 + 1));
        let refused = read(long, &budget).await;
        assert_eq!(refused.expect_err("refused"), BodyError::TooLarge(BOUND.bytes));
        let refused = read(whole(BOUND.bytes + 1), &budget).await;
        assert_eq!(refused.expect_err("refused"), BodyError::TooLarge(BOUND.bytes));
        assert!(read(whole(BOUND.bytes), &budget).await.is_ok());
    }
}
