//! Deliveries of events to webhooks (3.3, 6.2, 6.3, D52–D56a): the record of each, when it is
//! tried, how it is signed, and the delivery worker that sends it.

mod attempt;
mod delivery;
mod envelope;
mod fan_out;
mod list;
mod manage;
mod notified;
mod reads;
mod schedule;
mod shards;
mod signature;
mod view;
mod worker;

pub use attempt::{Attempt, AttemptOutcome};
pub use delivery::{Delivery, DeliveryStatus};
#[cfg(feature = "openapi")]
pub(crate) use envelope::Envelope;
pub use envelope::envelope;
pub(crate) use fan_out::{FanOut, KnownRoutes, Touch, fan_out, touched};
pub use list::{DeliveryFilter, DeliveryRequest};
pub use manage::{Deliveries, DeliveryError, Redelivered};
pub use notified::{NotificationQueue, NotifiedQueues};
pub use reads::{
    DeliveryReads, DeliverySeq, DueDelivery, DueReads, PendingDeliveries, PendingQueue, QueueKey,
    QueuePage, QueueRead, Signals,
};
pub use schedule::{
    ATTEMPTS, LateAttempt, MAX_LOG, RetryWaits, after_attempt, cancelled, is_withdrawn, overtaken,
    redelivered,
};
pub use shards::{Shard, ShardNumber, Shards};
pub use signature::{headers, sign, standard_signatures};
pub use view::{AttemptView, DeliveryDetail, DeliveryView};
pub use worker::{DeliveryLimits, Timer};
