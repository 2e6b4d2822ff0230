//! Amounts are exact, and what messages cost adds up to what the ledger says (2.4, D32, D59).
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use proptest::prelude::*;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, LedgerLineId};
use recado_core::json::Number;
use recado_core::prosas::{
    AmountError, Brl, DebitDraft, GivenBack, LedgerLine, LineKind, Prosa, ProsaScope, Prosas,
    RefundDraft, Spent, debit_line, give_back, total_of_messages,
};
use serde_json::json;
use uuid::Uuid;

fn prosas(written: &str) -> Result<Prosas, AmountError> {
    Prosas::parse(&Number::parse(written).unwrap())
}

fn brl(written: &str) -> Result<Brl, AmountError> {
    Brl::parse(&Number::parse(written).unwrap())
}

#[test]
fn an_amount_is_read_exactly_however_it_is_written() {
    for (written, units) in [
        ("0", 0),
        ("-0", 0),
        ("-0.000", 0),
        ("0e999999999999999999999", 0),
        ("1", 1_000),
        ("1.5", 1_500),
        ("0.001", 1),
        ("0.0010000", 1),
        ("1e-3", 1),
        ("10E-4", 1),
        ("0.00001e2", 1),
        ("15e-1", 1_500),
        ("1.5e3", 1_500_000),
        ("1000000000", 1_000_000_000_000),
        ("1e9", 1_000_000_000_000),
        ("100.000", 100_000),
    ] {
        assert_eq!(prosas(written).map(Prosas::units), Ok(units), "{written}");
    }
    assert_eq!(brl("0.000001").map(Brl::units), Ok(1));
    assert_eq!(brl("0.1").unwrap().plus(brl("0.2").unwrap()), brl("0.3").unwrap());
}

#[test]
fn a_finer_amount_is_refused_and_never_rounded() {
    for written in ["0.0001", "1.0005", "1e-4", "12.34567e1", "1e-99", "1e-99999999999999999999"] {
        assert_eq!(prosas(written), Err(AmountError::TooFine(3)), "{written}");
    }
    for written in ["0.0000001", "5e-7", "1.0000005"] {
        assert_eq!(brl(written), Err(AmountError::TooFine(6)), "{written}");
    }
}

#[test]
fn amounts_below_zero_or_beyond_measure_are_refused() {
    for written in ["-1", "-0.001", "-1e-99", "-1e99"] {
        assert_eq!(prosas(written), Err(AmountError::Negative), "{written}");
    }
    for written in
        ["1000000000.001", "1e10", "1e99", "1e99999999999999999999", "99999999999999999999"]
    {
        assert_eq!(prosas(written), Err(AmountError::TooLarge), "{written}");
        assert_eq!(brl(written), Err(AmountError::TooLarge), "{written}");
    }
}

#[test]
fn an_amount_is_written_as_a_json_number_without_needless_zeros() {
    let written = |units| serde_json::to_string(&Brl::from_units(units)).unwrap();
    for (units, text) in [
        (0, "0"),
        (1, "0.000001"),
        (-1, "-0.000001"),
        (1_500_000, "1.5"),
        (-1_050_000, "-1.05"),
        (100_000_000, "100"),
        (123_456_789_012, "123456.789012"),
    ] {
        assert_eq!(written(units), text);
    }
    assert!(json!({ "cost_brl": Brl::from_units(10) })["cost_brl"].is_number());
}

/// D59: a body whose fields have types is read as its JSON, which has its amounts as floats.
#[test]
fn amounts_of_a_typed_body_are_exact_at_the_extremes() {
    let most = 1_000_000_000_000_000;
    for units in [0, 1, 2, 999_999, most / 3, most - 1, most] {
        let (prosas, cost) = (Prosas::from_units(units / 1_000), Brl::from_units(units));
        let draft = DebitDraft::new(ProsaScope::Turn, prosas, cost);
        assert_eq!(DebitDraft::parse(draft.clone()), Ok(draft), "{units}");
    }
    for beyond in [most + 1, i64::MAX, -1, i64::MIN] {
        let draft = DebitDraft::new(ProsaScope::Turn, Prosas::ZERO, Brl::from_units(beyond));
        let problems = DebitDraft::parse(draft).unwrap_err();
        assert_eq!(problems.fields().collect::<Vec<_>>(), ["cost_brl"], "{beyond}");
    }
}

proptest! {
    #[test]
    fn amounts_of_a_typed_body_are_exact(
        prosas in 0_i64..=1_000_000_000_000,
        cost in 0_i64..=1_000_000_000_000_000,
    ) {
        let (prosas, cost) = (Prosas::from_units(prosas), Brl::from_units(cost));
        let draft = DebitDraft::new(ProsaScope::Message, prosas, cost);
        prop_assert_eq!(DebitDraft::parse(draft.clone()), Ok(draft));
        let refund = RefundDraft::new(LedgerLineId::new(Uuid::nil()), prosas, cost);
        prop_assume!(prosas != Prosas::ZERO || cost != Brl::ZERO);
        prop_assert_eq!(RefundDraft::parse(refund.clone()), Ok(refund));
    }

    #[test]
    fn what_is_written_is_read_back(units in 0_i64..=1_000_000_000_000_000) {
        let amount = Brl::from_units(units);
        prop_assert_eq!(brl(&serde_json::to_string(&amount).unwrap()), Ok(amount));
        prop_assert_eq!(amount.negated().to_string(), match units {
            0 => "0".to_owned(),
            _ => format!("-{amount}"),
        });
    }

    #[test]
    fn moving_the_point_changes_nothing(units in 0_i64..=1_000_000_000_000, by in 0_usize..30) {
        let (digits, zeros) = (units.to_string(), "0".repeat(by));
        let right = format!("{digits}{zeros}e-{}", by + 3);
        let exponent = i64::try_from(digits.len() + by).unwrap() - 3;
        let left = format!("0.{zeros}{digits}e{exponent}");
        for written in [right, left] {
            prop_assert_eq!(prosas(&written).map(Prosas::units), Ok(units), "{}", written);
        }
    }
}

/// What happens to the account of a company.
#[derive(Clone, Debug)]
enum Booking {
    /// One debit for so many bubbles; without any, a debit that no message shows.
    Turn { bubbles: usize, prosas: i64, cost: i64 },
    /// One debit for one message.
    Message { prosas: i64, cost: i64 },
    /// A message that nothing was debited for.
    Free,
    /// Part of an earlier debit is refunded.
    Refund { of: usize, prosas: i64, cost: i64 },
}

fn bookings() -> impl Strategy<Value = Vec<Booking>> {
    let (prosas, cost) = (0_i64..5_000, 0_i64..5_000_000);
    let booking = prop_oneof![
        (0_usize..4, prosas.clone(), cost.clone())
            .prop_map(|(bubbles, prosas, cost)| Booking::Turn { bubbles, prosas, cost }),
        (prosas.clone(), cost.clone()).prop_map(|(prosas, cost)| Booking::Message { prosas, cost }),
        Just(Booking::Free),
        (any::<prop::sample::Index>(), prosas, cost)
            .prop_map(|(of, prosas, cost)| Booking::Refund { of: of.index(1_000), prosas, cost }),
    ];
    prop::collection::vec(booking, 0..30)
}

#[derive(Debug, Default)]
struct Account {
    debits: Vec<LedgerLine>,
    refunds: Vec<LedgerLine>,
    messages: Vec<Option<Prosa>>,
    /// Debits that no message shows.
    loose: Vec<LedgerLineId>,
}

impl Account {
    fn next_id(&self) -> LedgerLineId {
        let lines = self.debits.len() + self.refunds.len();
        LedgerLineId::new(Uuid::from_u128(lines as u128 + 1))
    }

    fn debit(&mut self, scope: ProsaScope, messages: usize, prosas: i64, cost: i64) {
        let spent = Spent {
            company: CompanyId::new(Uuid::nil()),
            scope,
            prosas: Prosas::from_units(prosas),
            cost: Brl::from_units(cost),
            contact: None,
            campaign: None,
            description: None,
        };
        let line = debit_line(self.next_id(), spent, Timestamp::from_millis(0));
        if messages == 0 {
            self.loose.push(line.id);
        }
        self.messages.extend(std::iter::repeat_n(Some(line.prosa()), messages));
        self.debits.push(line);
    }

    /// Books a refund; whether there was enough left is known here without asking the rule.
    fn refund(&mut self, of: usize, prosas: i64, cost: i64) {
        if self.debits.is_empty() {
            return;
        }
        let (id, of) = (self.next_id(), of % self.debits.len());
        let debit = &self.debits[of];
        let back = |lines: &[LedgerLine], amount: fn(&LedgerLine) -> i64| -> i64 {
            lines.iter().filter(|line| line.consumption_id == debit.id).map(amount).sum()
        };
        let is_left = prosas + debit.refunded.0.units() <= debit.prosas.units()
            && cost + debit.refunded.1.units() <= debit.cost.units();
        assert_eq!(-back(&self.refunds, |line| line.prosas.units()), debit.refunded.0.units());
        assert_eq!(-back(&self.refunds, |line| line.cost.units()), debit.refunded.1.units());
        let back = GivenBack {
            prosas: Prosas::from_units(prosas),
            cost: Brl::from_units(cost),
            reason: None,
        };
        let booked = give_back(id, debit, back, Timestamp::from_millis(1));
        assert_eq!(booked.is_some(), is_left);
        if let Some((debit, line)) = booked {
            self.debits[of] = debit;
            self.refunds.push(line);
        }
    }

    fn book(&mut self, booking: &Booking) {
        match *booking {
            Booking::Turn { bubbles, prosas, cost } => {
                self.debit(ProsaScope::Turn, bubbles, prosas, cost);
            }
            Booking::Message { prosas, cost } => self.debit(ProsaScope::Message, 1, prosas, cost),
            Booking::Free => self.messages.push(None),
            Booking::Refund { of, prosas, cost } => self.refund(of, prosas, cost),
        }
    }
}

fn sum<'a>(lines: impl IntoIterator<Item = &'a LedgerLine>) -> (Prosas, Brl) {
    lines.into_iter().fold((Prosas::ZERO, Brl::ZERO), |(prosas, cost), line| {
        (prosas.plus(line.prosas), cost.plus(line.cost))
    })
}

proptest! {
    #[test]
    fn messages_loose_debits_and_refunds_add_up_to_the_ledger(bookings in bookings(), turned in any::<usize>()) {
        let mut account = Account::default();
        for booking in &bookings {
            account.book(booking);
        }
        // Readers may get the messages in any order.
        if !account.messages.is_empty() {
            let by = turned % account.messages.len();
            account.messages.rotate_left(by);
        }
        let ledger = sum(account.debits.iter().chain(&account.refunds));
        let of_messages = total_of_messages(account.messages.iter().copied());
        let loose = sum(account.debits.iter().filter(|line| account.loose.contains(&line.id)));
        let refunds = sum(&account.refunds);
        prop_assert_eq!(of_messages.0.plus(loose.0).plus(refunds.0), ledger.0);
        prop_assert_eq!(of_messages.1.plus(loose.1).plus(refunds.1), ledger.1);
        prop_assert!(ledger >= (Prosas::ZERO, Brl::ZERO));
        prop_assert!(account.refunds.iter().all(|line| line.kind == LineKind::Refund));
    }
}

#[test]
fn every_bubble_of_a_turn_shows_the_whole_debit_and_it_counts_once() {
    let mut account = Account::default();
    account.debit(ProsaScope::Turn, 3, 1_500, 45_000);
    account.debit(ProsaScope::Message, 1, 1_000, 30_000);
    account.messages.push(None);
    let shown: Vec<i64> =
        account.messages.iter().flatten().map(|prosa| prosa.prosas.units()).collect();
    assert_eq!(shown, [1_500, 1_500, 1_500, 1_000]);
    let total = total_of_messages(account.messages);
    assert_eq!(total, (Prosas::from_units(2_500), Brl::from_units(75_000)));
}
