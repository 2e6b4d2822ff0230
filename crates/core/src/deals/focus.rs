//! The focus stage: the one stage in which a contact is shown (2.5.1, D44b).

use super::{Deal, DealStatus};
use crate::ids::StageId;

/// The stage of the active deal that entered its stage last; with no active deal that has a stage,
/// that of the closed deal that entered its stage last; else none. Ties go to the greater deal id.
///
/// A contact with several deals is thus in one stage only. Source: 2.5.1, D44b.
pub fn focus_stage<'a>(deals: impl IntoIterator<Item = &'a Deal>) -> Option<StageId> {
    deals
        .into_iter()
        .filter(|deal| deal.stage_id.is_some())
        .max_by_key(|deal| (deal.status == DealStatus::Open, deal.stage_entered_at, deal.id))
        .and_then(|deal| deal.stage_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::ids::{CompanyId, ContactId, DealId};
    use uuid::Uuid;

    fn deal(id: u128, stage: Option<u128>, status: DealStatus, entered: i64) -> Deal {
        Deal {
            id: DealId::new(Uuid::from_u128(id)),
            company: CompanyId::new(Uuid::nil()),
            contact_id: ContactId::new(Uuid::nil()),
            title: String::new(),
            stage_id: stage.map(|s| StageId::new(Uuid::from_u128(s))),
            stage_entered_at: stage.map(|_| Timestamp::from_millis(entered)),
            status,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    fn stage(id: u128) -> Option<StageId> {
        Some(StageId::new(Uuid::from_u128(id)))
    }

    /// 2.5.1.
    #[test]
    fn an_active_deal_wins_over_a_closed_one_that_entered_later() {
        let deals = [deal(1, Some(10), DealStatus::Open, 5), deal(2, Some(20), DealStatus::Won, 9)];
        assert_eq!(focus_stage(&deals), stage(10));
    }

    /// 2.5.1.
    #[test]
    fn among_active_deals_the_last_to_enter_its_stage_wins() {
        let deals =
            [deal(1, Some(10), DealStatus::Open, 5), deal(2, Some(20), DealStatus::Open, 9)];
        assert_eq!(focus_stage(&deals), stage(20));
    }

    /// D44b.
    #[test]
    fn an_active_deal_without_a_stage_does_not_hide_a_closed_one_with_a_stage() {
        let deals = [deal(1, None, DealStatus::Open, 0), deal(2, Some(20), DealStatus::Lost, 1)];
        assert_eq!(focus_stage(&deals), stage(20));
    }

    /// D44b.
    #[test]
    fn a_tie_goes_to_the_greater_deal_id_in_any_order() {
        let (a, b) =
            (deal(1, Some(10), DealStatus::Open, 5), deal(2, Some(20), DealStatus::Open, 5));
        assert_eq!(focus_stage([&a, &b]), stage(20));
        assert_eq!(focus_stage([&b, &a]), stage(20));
    }

    #[test]
    fn no_deal_with_a_stage_means_no_focus_stage() {
        assert_eq!(focus_stage(&[deal(1, None, DealStatus::Open, 0)]), None);
        assert_eq!(focus_stage(&[]), None);
    }
}
