//! What reads of campaigns and endpoints cost.
