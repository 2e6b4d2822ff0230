//! The descriptions of gateways in the testkit are those of their adapters.

use recado_providers::cloud_api::CloudApi;
use recado_providers::evolution::Evolution;
use recado_providers::simulated::Simulated;
use recado_providers::waha::Waha;
use recado_testkit::descriptions;

#[test]
fn the_descriptions_of_the_testkit_are_those_of_the_adapters() {
    assert!(descriptions::simulated() == Simulated::description());
    assert!(descriptions::cloud_api() == CloudApi::description());
    assert!(descriptions::waha() == Waha::description());
    assert!(descriptions::evolution() == Evolution::description());
}
