//! Each alert of deploy/monitoring fires when what it watches is broken, and none does before
//! (R282): a server is driven into the broken state, what it says at /metrics is read, and
//! promtool evaluates the rules on that.

mod deliveries;
mod gateways;
mod machine;
mod pages;
mod prometheus;
mod requests;
mod store;
mod watched;
