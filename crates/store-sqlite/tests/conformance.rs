//! The promises of the store contract. Each runs on a database of its own.

mod harness;

use harness::fresh;

recado_testkit::conformance_suite!(fresh);
