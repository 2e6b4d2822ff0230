//! Sending (4.8, 7.1, D33–D39).
