//! An offer as a text, for gateways that cannot show it (X12).

use crate::messages::{Offer, OfferHeader};

impl Offer {
    /// The offer as a text: what stands above, the text, what can be chosen with a number each,
    /// what stands below.
    pub(crate) fn as_numbered_text(&self) -> String {
        let header = self.header.as_ref().and_then(|OfferHeader { text, .. }| text.clone());
        let choices = self.choices();
        let choices = choices.iter().enumerate().map(|(index, choice)| {
            let number = index + 1;
            format!("{number}. {choice}")
        });
        let choices: Vec<String> = choices.collect();
        let page = match (&self.label, &self.url) {
            (Some(label), Some(url)) => Some(format!("{label}: {url}")),
            (None, url) => url.clone(),
            (label, None) => label.clone(),
        };
        let choices = (!choices.is_empty()).then(|| choices.join("\n"));
        let parts = [header, self.body.clone(), choices, page, self.footer.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    /// What can be chosen, in its order.
    fn choices(&self) -> Vec<String> {
        let buttons = self.buttons.iter().flatten().filter_map(|button| button.title.clone());
        let rows = self.sections.iter().flatten().flat_map(|section| &section.rows);
        let rows = rows.filter_map(|row| {
            let title = row.title.as_ref()?;
            Some(match &row.description {
                Some(description) => format!("{title}: {description}"),
                None => title.clone(),
            })
        });
        let options = self.options.iter().flatten().map(|option| option.option.clone());
        buttons.chain(rows).chain(options).collect()
    }
}
