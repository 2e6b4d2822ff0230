//! JSONPath expressions: the first line is the expression, the rest is the document.

use recado_core::json;
use recado_core::json_path::{JsonPath, StepBudget};

/// How many steps an evaluation may take here.
const STEPS: u64 = 20_000;

/// Takes one input.
pub(crate) fn take(input: &str) {
    let (expression, document) = input.split_once('\n').unwrap_or((input, "{}"));
    let Ok(path) = JsonPath::parse(expression) else { return };
    assert_eq!(JsonPath::parse(&path.to_string()).as_ref(), Ok(&path));
    let Ok(document) = json::read(document.as_bytes()) else { return };
    let mut budget = StepBudget::of(STEPS);
    let all = path.all(&document, &mut budget);
    assert!(budget.left() <= STEPS);
    let first = path.first(&document, &mut StepBudget::of(STEPS));
    if let (Ok(all), Ok(first)) = (&all, &first) {
        assert!(match (all.first(), first) {
            (Some(of_all), Some(first)) => std::ptr::eq(*of_all, *first),
            (None, None) => true,
            _ => false,
        });
    }
    // What is found at all is found within the steps that all nodes take.
    assert!(all.is_err() || first.is_ok());
}
