//! The gateways that a program has.

use std::fmt;
use std::sync::Arc;

use super::{MessageKind, Provider};
use crate::connections::{Capability, Connection, GatewayDescription, GatewayName};

struct Registered {
    description: GatewayDescription,
    provider: Arc<dyn Provider>,
}

/// The gateways of a program, each under the name in its description. Cheap to clone.
#[derive(Clone, Default)]
pub struct Providers(Arc<Vec<Arc<Registered>>>);

impl Providers {
    /// No gateway at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with one more gateway; it replaces one with the same name.
    #[must_use]
    pub fn with(self, provider: Arc<dyn Provider>) -> Self {
        let description = provider.describe();
        self.with_described(description, provider)
    }

    /// The same with one more gateway, under a description other than its adapter's. With another
    /// name, for instance, one adapter can serve two gateways.
    #[must_use]
    pub fn with_described(
        mut self,
        description: GatewayDescription,
        provider: Arc<dyn Provider>,
    ) -> Self {
        let all = Arc::make_mut(&mut self.0);
        let is_same = |known: &Arc<Registered>| known.description.name() == description.name();
        let index = all.iter().position(is_same);
        let registered = Arc::new(Registered { description, provider });
        match index {
            Some(index) => all[index] = registered,
            None => all.push(registered),
        }
        self
    }

    fn find(&self, name: &GatewayName) -> Option<&Registered> {
        self.0.iter().find(|known| known.description.name() == name).map(|known| &**known)
    }

    /// The adapter of a gateway, if there is one.
    pub fn get(&self, name: &GatewayName) -> Option<Arc<dyn Provider>> {
        self.find(name).map(|known| Arc::clone(&known.provider))
    }

    /// The description of the gateway with this name, if there is one.
    pub fn description(&self, name: &GatewayName) -> Option<&GatewayDescription> {
        self.find(name).map(|known| &known.description)
    }

    /// The descriptions of all gateways, in the order in which they were added.
    pub fn descriptions(&self) -> impl Iterator<Item = &GatewayDescription> {
        self.0.iter().map(|known| &known.description)
    }

    /// Whether a connection's gateway is among them: through any other nothing is sent (R150).
    pub fn serves(&self, connection: &Connection) -> bool {
        self.find(&connection.gateway).is_some()
    }

    /// What a connection carries and does; nothing where its gateway is not among them.
    pub fn kinds(&self, connection: &Connection) -> Vec<MessageKind> {
        let found = self.find(&connection.gateway);
        found.map_or_else(Vec::new, |found| found.provider.kinds(connection))
    }

    /// Whether a connection's gateway is among them and can do this.
    pub fn can(&self, connection: &Connection, capability: Capability) -> bool {
        self.description(&connection.gateway).is_some_and(|gateway| gateway.can(capability))
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.descriptions().map(GatewayDescription::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::samples;

    #[test]
    fn a_gateway_takes_the_place_of_one_with_the_same_name() {
        let providers = samples::providers();
        let waha = GatewayName::new("waha");
        let provider = providers.get(&waha).expect("registered");
        let other = samples::simulated().named(waha.clone());
        let changed = providers.clone().with_described(other.clone(), provider);
        assert_eq!(changed.description(&waha), Some(&other));
        assert_eq!(changed.descriptions().count(), providers.descriptions().count());
    }

    #[test]
    fn gateways_are_listed_in_the_order_in_which_they_were_given() {
        let providers = samples::providers();
        assert_eq!(
            format!("{providers:?}"),
            r#"{GatewayName("simulated"), GatewayName("cloud_api"), GatewayName("waha")}"#
        );
    }
}
