//! Votes in polls (X6).

use serde_json::{Value, json};

use super::{Answer, AnswerKind, Interactive, Message, PollOption};

impl Answer {
    /// The options that a vote has chosen.
    pub(crate) fn chosen(&self) -> Vec<&str> {
        let options = self.response.as_ref().and_then(|response| response.get("options"));
        let options = options.and_then(Value::as_array).into_iter().flatten();
        let mut chosen: Vec<&str> = Vec::new();
        for option in options.filter_map(Value::as_str) {
            if !chosen.contains(&option) {
                chosen.push(option);
            }
        }
        chosen
    }

    /// The answer; of a vote, with the chosen options in `response` and joined by `, ` in `title`.
    /// A vote that is reported with its title alone has chosen the one option of this name.
    #[must_use]
    pub(crate) fn with_choice(mut self) -> Self {
        if self.kind != AnswerKind::PollVote {
            return self;
        }
        let mut chosen: Vec<String> = self.chosen().into_iter().map(str::to_owned).collect();
        if chosen.is_empty() && self.response.is_none() {
            chosen.extend(self.title.take());
        }
        self.title = (!chosen.is_empty()).then(|| chosen.join(", "));
        self.response = Some(json!({ "options": chosen }));
        self
    }
}

impl Message {
    /// The options that it chooses, if it is a vote.
    pub(crate) fn vote(&self) -> Option<Vec<&str>> {
        match &self.blocks.interactive {
            Some(Interactive::Answer(answer)) if answer.kind == AnswerKind::PollVote => {
                Some(answer.chosen())
            }
            _ => None,
        }
    }

    fn poll_options_mut(&mut self) -> Option<&mut Vec<PollOption>> {
        match &mut self.blocks.interactive {
            Some(Interactive::Offer(offer)) => offer.options.as_mut(),
            _ => None,
        }
    }
}

/// Counts the vote of one person in a poll, in place of the vote `before` (X6). An option that the
/// poll does not have counts nowhere, and a message that is no poll stays as it is.
pub(crate) fn count_vote(poll: &mut Message, before: &[&str], after: &[&str]) {
    for option in poll.poll_options_mut().into_iter().flatten() {
        if before.contains(&option.option.as_str()) {
            option.votes = option.votes.saturating_sub(1);
        }
        if after.contains(&option.option.as_str()) {
            option.votes = option.votes.saturating_add(1);
        }
    }
}

/// Counts a message in a poll, if it is a vote.
pub(crate) fn add_vote(poll: &mut Message, vote: &Message) {
    if let Some(chosen) = vote.vote() {
        count_vote(poll, &[], &chosen);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::{at, message};
    use super::super::{Direction, Offer};
    use super::*;

    const OPTIONS: [&str; 3] = ["a", "b", "c"];

    fn poll() -> Message {
        let offer = Offer::poll("?", OPTIONS.map(str::to_owned));
        let mut poll = message(Direction::Outbound, at(0));
        poll.blocks.interactive = Some(Interactive::Offer(Box::new(offer)));
        poll
    }

    fn votes(poll: &mut Message) -> Vec<u64> {
        poll.poll_options_mut().into_iter().flatten().map(|option| option.votes).collect()
    }

    fn vote(fields: Value) -> Answer {
        let mut object = json!({"kind": "poll_vote"});
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        serde_json::from_value(object).expect("an answer")
    }

    /// X6.
    #[test]
    fn a_vote_says_what_was_chosen_in_its_title_and_in_its_response() {
        let both = json!({"options": ["a", "b"]});
        let chosen = vote(json!({"response": both, "title": "anything"})).with_choice();
        assert_eq!(
            (chosen.title.as_deref(), chosen.response.as_ref()),
            (Some("a, b"), Some(&both))
        );
        let titled = vote(json!({"title": "a, or not"})).with_choice();
        assert_eq!(titled.chosen(), ["a, or not"]);
        let withdrawn = vote(json!({"response": {"options": []}})).with_choice();
        assert_eq!((withdrawn.title.as_ref(), withdrawn.chosen().len()), (None, 0));
    }

    #[test]
    fn an_answer_that_is_no_vote_stays_as_it_is() {
        let form = Answer { title: Some("a".to_owned()), ..Answer::new(AnswerKind::FlowReply) };
        assert_eq!(form.clone().with_choice(), form);
    }

    proptest! {
        /// X6.
        #[test]
        fn the_last_vote_of_each_person_counts(
            cast in prop::collection::vec((0..4_usize, prop::collection::vec(0..4_usize, 0..3)), 0..20)
        ) {
            let named = |chosen: &Vec<usize>| -> Vec<&str> {
                let mut names: Vec<&str> = Vec::new();
                for n in chosen {
                    let name = OPTIONS.get(*n).copied().unwrap_or("unknown");
                    if !names.contains(&name) { names.push(name); }
                }
                names
            };
            let mut poll = poll();
            let mut last: [Vec<&str>; 4] = Default::default();
            for (person, chosen) in &cast {
                let chosen = named(chosen);
                count_vote(&mut poll, &last[*person], &chosen);
                last[*person] = chosen;
            }
            let expected: Vec<u64> = OPTIONS
                .iter()
                .map(|option| last.iter().filter(|chosen| chosen.contains(option)).count() as u64)
                .collect();
            prop_assert_eq!(votes(&mut poll), expected);
        }
    }
}
