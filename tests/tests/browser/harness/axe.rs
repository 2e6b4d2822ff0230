//! axe-core, which looks for barriers on a page.

use serde_json::json;

use super::browser::Browser;

/// The library, which runs in the page as the driver's script. The page's policy is not asked.
const AXE: &str = include_str!("../vendor/axe-core/axe.min.js");

/// All rules that are not experiments, and the size of targets, which belongs to WCAG 2.2 AA.
const RUN: &str = r"
    const done = arguments[0];
    const rules = {'target-size': {enabled: true}};
    axe.run(document, {rules, resultTypes: ['violations']}).then(
        result => done(result.violations.map(one =>
            `${one.id}: ${one.help}\n` + one.nodes.slice(0, 4).map(node =>
                `    ${node.target} ${node.html.slice(0, 160)}\n`
                + `    ${node.failureSummary.replaceAll('\n', ' ')}`).join('\n'))),
        error => done(['axe failed: ' + error]));
";

impl Browser {
    /// Asserts that this page, which only a form leads to, has no barrier.
    pub(crate) async fn has_no_barrier(&self) {
        let barriers = self.barriers().await;
        assert!(barriers.is_empty(), "{}\n{}", self.path().await, barriers.join("\n"));
    }

    /// The barriers that axe-core finds on this page.
    pub(crate) async fn barriers(&self) -> Vec<String> {
        if self.js("return !window.axe", json!([])).await == true {
            self.js(AXE, json!([])).await;
        }
        let found = self.session.later(RUN, json!([])).await;
        let found = found.unwrap_or_else(|refused| panic!("axe: {refused}"));
        let all = found.as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
    }
}
