//! Every adapter keeps every promise of a provider.

#[cfg(feature = "cloud-api")]
mod cloud_api;
#[cfg(all(feature = "simulated", feature = "cloud-api", feature = "waha", feature = "evolution"))]
mod descriptions;
#[cfg(feature = "evolution")]
mod evolution;
#[cfg(feature = "simulated")]
mod simulated;
#[cfg(feature = "waha")]
mod waha;
