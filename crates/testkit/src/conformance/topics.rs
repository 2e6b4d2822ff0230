//! The promises of each topic.

/// Passes the promises of a topic to a macro: `conformance_topic!(callback [input] commits)`
/// becomes `callback! { [input] commits: a_promise, … }`.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_topic {
    ($($go:tt)::+ [$($in:tt)*] commits) => { $($go)::+! { [$($in)*] commits:
        an_insert_starts_at_version_one_and_each_update_adds_one,
        an_empty_change_set_is_fine,
        a_stale_update_changes_nothing,
        a_stale_delete_deletes_nothing,
        writing_a_row_that_is_gone_is_stale,
        writing_a_row_of_another_company_is_stale,
        changes_are_applied_in_order,
        a_row_may_be_deleted_and_made_again_in_one_change_set,
        a_failed_change_set_applies_nothing,
        a_failed_change_leaves_no_event_behind,
        events_come_with_their_commit_in_order,
        a_commit_is_seen_through_a_second_handle_at_once,
        a_change_set_may_be_large,
    } };
    ($($go:tt)::+ [$($in:tt)*] unique_keys) => { $($go)::+! { [$($in)*] unique_keys:
        a_taken_id_names_the_key,
        a_taken_identifier_names_the_key,
        a_taken_email_names_the_key,
        a_taken_slug_names_the_key,
        a_taken_cnpj_names_the_key,
        a_taken_key_hash_names_the_key,
        a_taken_link_code_names_the_key,
        a_second_job_for_one_subject_names_the_key,
        a_taken_secret_names_the_key,
        a_membership_that_exists_names_the_key,
        a_tag_that_is_given_names_the_key,
        an_update_to_a_taken_email_names_the_key,
        identifiers_are_unique_per_channel_only,
        values_taken_in_one_company_are_free_in_another,
        a_value_is_free_again_once_its_row_is_gone,
    } };
    ($($go:tt)::+ [$($in:tt)*] figures) => { $($go)::+! { [$($in)*] figures:
        an_empty_installation_has_nothing,
        connections_are_counted_by_what_they_are_with_the_oldest_of_each,
        deliveries_of_active_webhooks_are_counted_and_the_oldest_due_one_is_found,
        what_is_counted_is_bounded,
        jobs_are_overdue_until_they_are_claimed,
        campaigns_are_counted_while_they_run,
        the_journal_only_grows,
    } };
    ($($go:tt)::+ [$($in:tt)*] rows) => { $($go)::+! { [$($in)*] rows:
        every_field_of_a_contact_is_read_back,
        the_extremes_of_time_are_read_back,
        awkward_texts_are_read_back,
        every_field_of_the_other_rows_is_read_back,
        a_row_of_another_company_is_missing,
    } };
    ($($go:tt)::+ [$($in:tt)*] preconditions) => { $($go)::+! { [$($in)*] preconditions:
        an_unchanged_row_lets_the_change_set_pass_and_stays_as_it_is,
        a_changed_row_stops_the_change_set,
        a_row_that_is_gone_stops_the_change_set,
        preconditions_hold_before_the_changes_of_the_set,
        every_kind_of_row_can_be_relied_on,
        two_change_sets_that_rely_on_each_other_never_both_pass,
    } };
    ($($go:tt)::+ [$($in:tt)*] references) => { $($go)::+! { [$($in)*] references:
        a_row_needs_its_company,
        a_row_needs_what_it_refers_to,
        a_row_of_another_company_is_no_reference,
        an_update_cannot_begin_to_refer_to_nothing,
        a_change_set_may_bring_what_it_refers_to,
        a_row_that_is_in_use_stays,
        a_contact_with_a_document_stays,
        stages_go_before_their_pipeline,
        a_membership_is_never_left_without_its_list,
        a_document_is_never_left_without_its_contact,
    } };
    ($($go:tt)::+ [$($in:tt)*] cascades) => { $($go)::+! { [$($in)*] cascades:
        memberships_tags_deals_links_and_clicks_go_with_the_contact,
        jobs_and_events_stay_when_the_contact_goes,
        a_contact_made_again_with_the_same_id_starts_empty,
        memberships_go_with_the_list,
        given_tags_go_with_the_tag,
        clicks_go_with_the_link,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_listing) => { $($go)::+! { [$($in)*] contacts_listing:
        contacts_come_by_last_message_then_id,
        pages_partition_the_listing,
        a_page_beyond_the_end_is_empty_and_has_the_total,
        every_combination_of_filters_answers_as_the_facets_do,
        a_listing_shows_what_its_contacts_refer_to,
        a_listing_shows_each_contact_with_its_own_tags,
        a_single_contact_shows_its_member_and_lists,
        clicks_are_counted_when_they_are_asked_for,
        another_companys_contacts_are_not_listed,
        definitions_come_with_the_values_in_any_status,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_search) => { $($go)::+! { [$($in)*] contacts_search:
        searches_answer_as_the_model_does,
        one_and_two_characters_find_too,
        phones_are_found_with_and_without_the_ninth_digit,
        special_characters_mean_themselves,
        a_search_goes_together_with_filters_and_pages,
        an_updated_or_deleted_contact_is_found_as_it_is_now,
        an_export_can_be_searched,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_totals) => { $($go)::+! { [$($in)*] contacts_totals:
        totals_follow_inserts_updates_and_deletes,
        totals_stay_exact_under_concurrent_writes,
        a_total_is_of_the_same_state_as_its_records,
        upkeep_changes_no_total,
        a_change_set_that_fails_changes_no_total,
        totals_are_seen_through_a_second_handle_at_once,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_filters) => { $($go)::+! { [$($in)*] contacts_filters:
        each_filter_finds_its_contacts_in_both_orders,
        sets_follow_every_change,
        a_set_of_another_company_matches_nothing,
        sets_stay_exact_under_concurrent_writes,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_export) => { $($go)::+! { [$($in)*] contacts_export:
        an_export_goes_by_creation_then_id,
        contacts_of_one_moment_are_neither_skipped_nor_repeated,
        the_last_part_says_that_nothing_follows,
        an_export_keeps_to_its_filters_with_an_exact_total,
        a_position_that_was_handed_out_closes_the_past,
        an_export_that_came_to_its_end_closes_nothing,
        the_frontier_never_moves_back,
        the_frontier_is_of_one_company,
        the_frontier_is_seen_through_a_second_handle,
        a_created_contact_is_visible_to_the_very_next_export_call,
        an_export_under_concurrent_creation_neither_skips_nor_repeats,
    } };
    ($($go:tt)::+ [$($in:tt)*] contacts_draft) => { $($go)::+! { [$($in)*] contacts_draft:
        an_empty_query_answers_nothing,
        the_holder_has_the_phone_or_an_identifier_on_any_channel,
        the_oldest_holder_is_named,
        the_holder_of_an_email_is_named,
        an_organization_is_found_by_number_or_id,
        lists_fields_and_tags_are_found_in_any_state,
        fields_are_found_by_id_and_by_slug_each_once,
        memberships_are_reported_the_named_lists_and_tags_in_full,
        members_and_close_reasons_are_known_by_id,
        nothing_of_another_company_is_reported,
        the_holder_may_be_known_by_an_alias,
        a_taken_alias_and_a_connection_are_reported,
        a_contact_is_found_by_its_identifier_on_its_channel,
        use_of_members_and_close_reasons_is_reported,
    } };
    ($($go:tt)::+ [$($in:tt)*] access) => { $($go)::+! { [$($in)*] access:
        a_key_is_found_by_its_hash_with_its_company,
        a_revoked_key_is_not_found,
        a_change_of_plan_is_seen_with_the_key,
        companies_keys_and_members_are_listed_by_creation_then_id,
        a_secret_is_read_back,
        two_processes_that_start_at_once_share_one_secret,
        a_new_store_is_ready,
    } };
    ($($go:tt)::+ [$($in:tt)*] accounts) => { $($go)::+! { [$($in)*] accounts:
        a_login_is_found_by_its_address_with_every_field,
        a_taken_address_of_a_login_names_the_key,
        a_taken_subject_of_a_login_names_the_key,
        the_sessions_of_a_member_are_listed_by_creation_then_id,
        a_login_its_link_and_its_sessions_go_with_the_member,
    } };
    ($($go:tt)::+ [$($in:tt)*] jobs) => { $($go)::+! { [$($in)*] jobs:
        a_due_job_is_claimed_with_a_lease,
        a_job_that_is_not_due_is_not_claimed,
        a_leased_job_is_claimed_by_nobody_else,
        a_lapsed_lease_is_taken_over,
        the_outcome_is_a_commit_on_the_claimed_version,
        jobs_are_claimed_oldest_first_up_to_the_limit,
        claims_go_over_all_companies,
        concurrent_claims_hand_a_job_to_one_caller_only,
        the_purge_of_a_contact_is_found,
    } };
    ($($go:tt)::+ [$($in:tt)*] lists) => { $($go)::+! { [$($in)*] lists:
        lists_are_listed_by_creation_then_id_with_their_counts,
        counts_follow_memberships,
        members_are_listed_by_id,
        candidates_are_distinguished,
    } };
    ($($go:tt)::+ [$($in:tt)*] deals) => { $($go)::+! { [$($in)*] deals:
        stages_come_by_pipeline_and_order,
        deals_are_listed_of_the_company_or_of_one_contact,
        pipelines_tags_reasons_and_organizations_come_by_creation_then_id,
    } };
    ($($go:tt)::+ [$($in:tt)*] links) => { $($go)::+! { [$($in)*] links:
        a_link_is_found_by_its_code_whatever_the_company,
        links_are_listed_by_creation_then_id,
    } };
    ($($go:tt)::+ [$($in:tt)*] documents) => { $($go)::+! { [$($in)*] documents:
        documents_are_listed_in_any_state_by_creation_then_id,
    } };
    ($($go:tt)::+ [$($in:tt)*] connections) => { $($go)::+! { [$($in)*] connections:
        connections_and_templates_come_by_creation_then_id,
        use_of_a_connection_is_reported,
        a_connection_is_found_whatever_the_company,
        groups_of_a_connection_come_by_code,
        groups_are_found_by_their_code_and_their_communitys,
        a_single_contact_shows_its_conversations_and_lead_memory,
        a_channels_row_of_another_company_is_missing,
    } };
    ($($go:tt)::+ [$($in:tt)*] conversations) => { $($go)::+! { [$($in)*] conversations:
        an_empty_channel_query_names_nobody,
        identifiers_and_aliases_are_looked_for_on_the_channel,
        ids_phones_and_chats_are_looked_for_on_every_channel,
        named_contacts_come_once_by_creation_then_id,
        of_many_contacts_with_a_phone_those_who_asked_to_stop_come_first,
        many_names_are_looked_for_at_once,
        a_named_contact_comes_with_its_aliases_and_conversations,
        nobody_of_another_company_is_named,
        the_newest_message_of_each_direction_is_reported,
    } };
    ($($go:tt)::+ [$($in:tt)*] activity) => { $($go)::+! { [$($in)*] activity:
        the_activity_of_a_message_is_replaced,
        no_field_of_a_message_is_left_out,
        no_field_of_a_contact_is_left_out,
        the_activity_of_several_messages_is_replaced_or_that_of_none,
        the_activity_of_contacts_is_replaced_with_other_contacts,
    } };
    ($($go:tt)::+ [$($in:tt)*] message_rows) => { $($go)::+! { [$($in)*] message_rows:
        every_field_of_a_message_is_read_back,
        every_word_of_a_message_is_read_back,
        awkward_messages_are_read_back,
    } };
    ($($go:tt)::+ [$($in:tt)*] messages) => { $($go)::+! { [$($in)*] messages:
        messages_are_read_by_their_ids,
        provider_ids_tell_what_they_stand_for,
        messages_of_silent_and_unknown_processes_are_abandoned,
        messages_in_flight_are_reported_by_their_process,
        messages_that_came_no_further_are_counted,
    } };
    ($($go:tt)::+ [$($in:tt)*] messages_listing) => { $($go)::+! { [$($in)*] messages_listing:
        messages_come_newest_first_then_by_id,
        pages_of_messages_partition_the_listing,
        every_combination_of_message_filters_is_exact,
        a_listed_message_shows_its_contact,
        another_companys_messages_are_not_listed,
        a_listing_of_messages_follows_every_change,
        a_total_of_messages_is_of_the_same_state_as_its_items,
    } };
    ($($go:tt)::+ [$($in:tt)*] messages_search) => { $($go)::+! { [$($in)*] messages_search:
        searches_for_messages_answer_as_the_model_does,
        a_search_for_messages_goes_together_with_filters_and_pages,
        a_changed_or_deleted_message_is_found_as_it_is_now,
        a_change_set_that_fails_leaves_nothing_to_be_found,
        a_reassigned_message_is_found_as_one_of_its_new_contact,
        another_companys_messages_are_not_found,
        a_total_of_a_search_is_of_the_same_state_as_its_items,
    } };
    ($($go:tt)::+ [$($in:tt)*] prosas) => { $($go)::+! { [$($in)*] prosas:
        pages_of_the_ledger_partition_it_and_sum_up_all,
        every_combination_of_ledger_filters_is_exact,
        sums_of_the_ledger_are_exact_at_the_extremes,
        refunds_of_one_debit_are_applied_one_after_another,
        sums_of_the_ledger_are_of_the_same_state_as_its_lines,
        spans_of_the_ledger_have_their_own_sums_by_kind,
    } };
    ($($go:tt)::+ [$($in:tt)*] channel_rows) => { $($go)::+! { [$($in)*] channel_rows:
        every_field_of_a_connection_and_a_template_is_read_back,
        every_field_of_conversations_and_groups_is_read_back,
        every_field_of_reports_workers_and_calls_is_read_back,
        every_field_of_ledger_lines_and_lead_memories_is_read_back,
        jobs_of_channels_are_read_back,
    } };
    ($($go:tt)::+ [$($in:tt)*] channel_keys) => { $($go)::+! { [$($in)*] channel_keys:
        a_taken_identity_names_its_key,
        an_alias_belongs_to_one_contact_per_channel,
        a_provider_id_stands_for_one_thing_per_connection,
        a_report_gives_way_to_its_message,
        a_taken_template_token_names_the_key,
        calls_are_distinguished_by_operation_key_and_company,
        of_a_message_and_its_report_one_learns_of_the_other,
        of_two_contacts_with_one_alias_one_is_made,
    } };
    ($($go:tt)::+ [$($in:tt)*] channel_references) => { $($go)::+! { [$($in)*] channel_references:
        a_row_of_a_channel_needs_its_company,
        a_row_of_a_channel_needs_what_it_refers_to,
        a_channel_of_another_company_is_no_reference,
        an_update_cannot_lead_a_channels_row_to_nothing,
        what_a_message_only_mentions_may_be_missing,
        a_connection_that_is_in_use_stays,
        a_message_is_never_left_without_its_contact,
    } };
    ($($go:tt)::+ [$($in:tt)*] channel_cascades) => { $($go)::+! { [$($in)*] channel_cascades:
        all_that_messages_left_goes_with_the_contact,
        ledger_lines_stay_without_their_contact,
        a_contact_that_comes_back_finds_nothing_of_the_old,
        references_go_with_their_message,
        groups_and_reports_go_with_the_connection,
    } };
    ($($go:tt)::+ [$($in:tt)*] forgotten) => { $($go)::+! { [$($in)*] forgotten:
        a_deleted_contacts_messages_leave_traces_of_their_ids,
        an_id_that_is_forgotten_again_is_so_for_longer,
        a_deletion_that_fails_leaves_no_trace,
        traces_go_when_they_expire_and_with_their_connection,
        what_comes_meanwhile_leaves_a_trace_or_is_refused,
    } };
    ($($go:tt)::+ [$($in:tt)*] reassign) => { $($go)::+! { [$($in)*] reassign:
        everything_of_a_contact_becomes_anothers,
        a_reassignment_needs_its_contact,
        rows_are_reassigned_in_the_order_of_the_changes,
        a_change_set_that_fails_moves_nothing,
        the_deletion_of_who_gave_takes_nothing_along,
        what_was_read_before_it_moved_is_stale,
        rows_are_reassigned_within_one_company,
        events_of_both_contacts_are_erased_with_the_taker,
        a_long_history_moves_in_one_step,
        nothing_that_comes_meanwhile_is_lost,
    } };
    ($($go:tt)::+ [$($in:tt)*] reassign_duplicates) => { $($go)::+! { [$($in)*] reassign_duplicates:
        of_two_recipients_of_a_campaign_the_one_that_was_claimed_stays,
        the_window_that_was_sent_or_ends_later_stays,
        what_both_contacts_have_stays_as_the_taker_has_it,
    } };
    ($($go:tt)::+ [$($in:tt)*] portions) => { $($go)::+! { [$($in)*] portions:
        a_contact_has_many_rows_of_a_kind_when_it_has_more_than_that,
        a_part_of_a_merge_moves_so_many_rows_of_each_kind,
        a_part_of_a_merge_needs_its_contact,
        a_part_of_a_deletion_removes_so_many_rows_with_traces,
        a_part_of_the_deletion_of_a_list_or_a_tag_removes_so_many_of_its_rows,
        a_part_of_the_deletion_of_a_campaign_removes_its_last_recipients,
    } };
    ($($go:tt)::+ [$($in:tt)*] unknown_events) => { $($go)::+! { [$($in)*] unknown_events:
        every_field_of_a_kept_event_is_read_back,
        kept_events_come_in_order_page_by_page,
        kept_events_of_one_kind_are_found_and_counted,
        a_kept_event_is_there_once,
        a_kept_event_needs_its_connection_and_its_contact,
        kept_events_of_another_company_are_missing,
        kept_events_go_with_their_connection_and_their_contact,
        kept_events_that_came_long_ago_go,
    } };
    ($($go:tt)::+ [$($in:tt)*] upkeep) => { $($go)::+! { [$($in)*] upkeep:
        reports_that_expired_go_and_references_stay,
        calls_that_expired_go,
        workers_that_are_long_silent_go,
        upkeep_leaves_everything_else_alone,
    } };
    ($($go:tt)::+ [$($in:tt)*] removal) => { $($go)::+! { [$($in)*] removal:
        rows_that_were_counted_stop_the_change_set_when_there_are_more,
        rows_about_a_contact_are_listed_and_counted,
        the_messages_of_a_contact_are_listed_page_by_page,
        the_last_messages_of_some_contacts_are_found,
        some_rows_of_a_kind_are_of_one_company,
        companies_with_rows_of_a_kind_are_named_once,
        the_oldest_rows_are_found_by_their_times,
        every_field_of_an_upload_is_read_back,
        uploads_are_found_by_their_end_and_by_their_messages,
        an_upload_is_written_once_by_those_who_read_it_at_once,
        organizations_that_no_contact_has_are_unused,
        nothing_of_a_deleted_company_is_left,
    } };
    ($($go:tt)::+ [$($in:tt)*] routed) => { $($go)::+! { [$($in)*] routed:
        routes_as_they_were_read_let_the_change_set_pass,
        missing_routes_let_the_change_set_pass,
        changed_routes_stop_the_change_set,
        routes_that_appeared_stop_the_change_set,
        routes_that_are_missing_stop_the_change_set,
        routes_changed_through_a_second_handle_stop_the_change_set,
        change_sets_on_the_same_routes_all_pass,
    } };
    ($($go:tt)::+ [$($in:tt)*] outbound_rows) => { $($go)::+! { [$($in)*] outbound_rows:
        every_field_of_a_webhook_is_read_back,
        every_field_of_routes_is_read_back,
        every_field_of_a_delivery_is_read_back,
        every_field_of_an_event_is_read_back,
        every_field_of_a_shard_is_read_back,
        workers_are_listed_by_id_with_whether_they_dispatch,
        a_taken_identity_of_an_outbound_row_names_its_key,
        every_outbound_row_can_be_relied_on,
        a_webhook_needs_its_company,
        an_outbound_row_of_another_company_is_missing,
        webhooks_are_listed_by_creation_then_id_but_for_deleted_ones,
    } };
    ($($go:tt)::+ [$($in:tt)*] inbound_rows) => { $($go)::+! { [$($in)*] inbound_rows:
        every_field_of_an_inbound_endpoint_is_read_back,
        inbound_endpoints_come_by_creation_then_id,
        an_endpoint_is_found_by_its_slug_whatever_the_company,
        a_taken_endpoint_slug_names_the_key,
        of_many_endpoints_with_one_slug_one_is_made,
        a_stale_change_of_an_inbound_endpoint_changes_nothing,
        an_inbound_endpoint_of_another_company_is_missing,
        an_inbound_endpoint_needs_its_company,
        a_template_is_found_by_its_token_whatever_the_company,
    } };
    ($($go:tt)::+ [$($in:tt)*] dispatches) => { $($go)::+! { [$($in)*] dispatches:
        every_field_of_a_dispatch_window_is_read_back,
        dispatch_windows_are_distinguished_by_contact_and_key,
        the_reserved_windows_of_a_contact_are_listed_by_key,
        a_dispatch_window_that_is_there_names_its_key,
        a_dispatch_window_needs_its_contact,
        a_stale_change_of_a_dispatch_window_changes_nothing,
        a_dispatch_window_of_another_company_is_missing,
        dispatch_windows_go_with_their_contact,
        dispatch_windows_that_ended_go,
        of_many_reservations_of_one_window_one_wins,
        of_many_takeovers_of_one_window_one_wins,
        a_dispatch_window_is_never_left_without_its_contact,
    } };
    ($($go:tt)::+ [$($in:tt)*] campaigns) => { $($go)::+! { [$($in)*] campaigns:
        every_field_of_a_campaign_is_read_back,
        campaigns_come_by_creation_then_id_with_their_counts,
        a_campaign_sums_its_debits_less_its_refunds,
        active_campaigns_of_all_companies_come_by_id,
        a_deleted_campaign_is_running_no_more,
        recipients_go_with_their_campaign_alone,
        what_a_campaign_names_may_be_missing,
        a_stale_change_of_a_campaign_changes_nothing,
        a_campaign_needs_its_company,
        a_campaign_of_another_company_is_missing,
        no_recipient_is_claimed_once_a_pause_was_committed,
        claims_that_rely_on_one_campaign_all_pass,
    } };
    ($($go:tt)::+ [$($in:tt)*] enrollment) => { $($go)::+! { [$($in)*] enrollment:
        everybody_on_the_list_is_enrolled_by_contact_id,
        a_long_list_is_enrolled_in_one_step,
        an_empty_or_missing_list_enrolls_nobody,
        a_campaign_to_enroll_for_must_be_there,
        nobody_of_another_companys_list_is_enrolled,
        enrolling_again_names_the_key,
        who_joins_or_leaves_the_list_later_changes_no_recipient,
        an_enrollment_sees_the_changes_before_it_in_its_set,
        a_start_that_fails_enrolls_nobody,
        of_many_enrollments_of_one_campaign_one_wins,
        no_recipient_keeps_a_contact_that_is_gone,
    } };
    ($($go:tt)::+ [$($in:tt)*] recipients) => { $($go)::+! { [$($in)*] recipients:
        every_field_of_a_recipient_is_read_back,
        counts_of_recipients_follow_every_change,
        recipients_of_a_status_come_by_number_after_a_number,
        outcomes_are_counted_by_steps_of_time,
        pages_of_recipients_partition_the_listing,
        a_page_of_recipients_shows_their_contacts,
        a_page_of_recipients_shows_their_debits,
        recipients_are_found_by_their_messages,
        what_a_recipient_names_may_be_missing,
        recipients_that_were_stored_one_by_one_can_be_removed,
        recipients_stay_without_their_contact,
        a_recipient_cannot_be_led_to_a_missing_contact,
        a_stale_change_of_a_recipient_changes_nothing,
        a_recipient_of_another_company_is_missing,
        of_many_claims_of_one_recipient_one_wins,
        a_total_of_recipients_is_of_the_same_state_as_its_items,
    } };
    ($($go:tt)::+ [$($in:tt)*] deliveries_due) => { $($go)::+! { [$($in)*] deliveries_due:
        queues_with_something_pending_are_named,
        a_queue_follows_what_happens_to_its_deliveries,
        queues_of_shards_come_in_parts,
        deliveries_that_were_never_tried_come_in_the_order_of_their_sets,
        a_delivery_keeps_its_place,
        deliveries_that_are_due_again_come_by_time_then_place,
        a_queue_reports_what_its_deliveries_carry,
        a_queue_reports_that_data_was_erased,
        a_queue_comes_with_its_webhook,
        pending_deliveries_of_a_webhook_are_reported,
        pending_deliveries_about_a_contact_are_reported,
        places_follow_the_order_of_commits_on_one_row,
        places_are_never_given_twice,
    } };
    ($($go:tt)::+ [$($in:tt)*] deliveries_listing) => { $($go)::+! { [$($in)*] deliveries_listing:
        deliveries_come_newest_first_then_by_id,
        pages_of_deliveries_partition_the_listing,
        every_combination_of_delivery_filters_is_exact,
        a_listing_of_deliveries_follows_every_change,
        another_companys_deliveries_are_not_listed,
    } };
    ($($go:tt)::+ [$($in:tt)*] journal) => { $($go)::+! { [$($in)*] journal:
        events_come_in_the_order_of_their_sets,
        the_journal_can_be_read_by_type,
        the_newest_events_come_first_in_pages,
        a_position_at_the_end_goes_on_with_what_is_new,
        what_was_not_committed_is_not_in_the_journal,
        the_journal_outlives_its_contacts,
        an_event_reports_whether_its_contact_is_gone,
        a_reader_reads_every_event_once_while_others_write,
        journals_of_companies_are_apart,
    } };
    ($($go:tt)::+ [$($in:tt)*] outbox) => { $($go)::+! { [$($in)*] outbox:
        the_data_of_a_contacts_events_is_erased,
        the_data_of_a_deleted_messages_events_is_erased,
        what_receivers_answered_is_erased_with_the_event,
        what_a_pending_delivery_carries_is_not_erased,
        data_is_erased_in_bounded_steps,
        finished_deliveries_and_their_events_are_swept,
        the_sweep_goes_over_all_companies,
        what_is_pending_is_never_swept,
        an_event_stays_as_long_as_a_delivery_names_it,
        the_sweep_goes_in_bounded_steps,
    } };
    ($($go:tt)::+ [$($in:tt)*] audit) => { $($go)::+! { [$($in)*] audit:
        every_field_of_an_audit_entry_is_read_back,
        audit_entries_are_listed_by_time_and_company,
    } };
    ($($go:tt)::+ [$($in:tt)*] halts) => { $($go)::+! { [$($in)*] halts:
        halts_are_read_back_and_listed,
        a_closed_installation_refuses_what_relies_on_it_being_open,
        a_closed_company_refuses_only_its_own,
        a_company_that_is_closed_twice_is_closed,
        a_closure_through_a_second_handle_is_seen_at_once,
        nothing_is_applied_once_a_closure_is,
        a_halt_that_exists_names_the_key,
        jobs_of_who_is_closed_are_not_claimed,
        jobs_that_are_excepted_are_not_claimed,
    } };
    ($($go:tt)::+ [$($in:tt)*] races) => { $($go)::+! { [$($in)*] races:
        concurrent_updates_of_one_contact_lose_nothing,
        concurrent_patches_of_one_contact_lose_nothing,
        two_creations_of_one_phone_one_wins_and_the_other_learns_who,
        two_creations_with_one_email_both_succeed_one_with_shared_email,
        two_creations_with_one_cnpj_share_one_organization_and_one_job,
        one_slug_is_given_once,
        a_custom_field_that_is_deactivated_takes_no_value_afterwards,
    } };
    ($($go:tt)::+ [$($in:tt)*] $other:ident) => {
        compile_error!(concat!("the conformance suite has no topic `", stringify!($other), "`"));
    };
}
