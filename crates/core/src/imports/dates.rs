//! Dates and times as spreadsheets write them (R287).

/// `dd/mm/yyyy` as `YYYY-MM-DD`; anything else as it is.
pub(super) fn date(text: &str) -> String {
    day(text).unwrap_or_else(|| text.to_owned())
}

/// A date with or without a time of day as a timestamp in UTC; anything else as it is.
pub(super) fn time(text: &str) -> String {
    let (day_text, clock) = text.split_once([' ', 'T']).map_or((text, ""), |(d, c)| (d, c.trim()));
    let is_day = |text: &str| {
        let parts: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        lengths == [4, 2, 2] && parts.iter().all(|part| is_digits(part))
    };
    let day = match day(day_text) {
        Some(day) => day,
        None if is_day(day_text) => day_text.to_owned(),
        None => return text.to_owned(),
    };
    // A time with an offset, or one of no known form, is for the reader of timestamps.
    let parts: Vec<&str> = clock.split(':').collect();
    match parts.as_slice() {
        [""] => format!("{day}T00:00:00Z"),
        [hour, minute] if is_digits(hour) && is_digits(minute) => {
            format!("{day}T{hour:0>2}:{minute}:00Z")
        }
        [hour, minute, second] if [hour, minute, second].into_iter().all(|p| is_digits(p)) => {
            format!("{day}T{hour:0>2}:{minute}:{second}Z")
        }
        _ => format!("{day}T{clock}"),
    }
}

/// The day of `dd/mm/yyyy`.
fn day(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.trim().split('/').collect();
    let [day, month, year] = parts.as_slice() else { return None };
    let is_day = is_digits(day) && is_digits(month) && is_digits(year);
    let fits = is_day && day.len() <= 2 && month.len() <= 2 && year.len() == 4;
    fits.then(|| format!("{year}-{month:0>2}-{day:0>2}"))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R287.
    #[test]
    fn days_of_both_forms_are_read() {
        for (written, meant) in [
            ("1990-05-17", "1990-05-17"),
            ("17/05/1990", "1990-05-17"),
            (" 7/5/1990 ", "1990-05-07"),
            ("17/05/90", "17/05/90"),
            ("17.05.1990", "17.05.1990"),
        ] {
            assert_eq!(date(written), meant, "{written}");
        }
    }

    /// R287.
    #[test]
    fn times_without_an_offset_are_utc() {
        for (written, meant) in [
            ("17/05/2024", "2024-05-17T00:00:00Z"),
            ("17/05/2024 9:30", "2024-05-17T09:30:00Z"),
            ("2024-05-17 09:30:15", "2024-05-17T09:30:15Z"),
            ("2024-05-17T09:30:15Z", "2024-05-17T09:30:15Z"),
            ("2024-05-17T09:30:15-03:00", "2024-05-17T09:30:15-03:00"),
            ("2024-05-17 09:30:15.123-03:00", "2024-05-17T09:30:15.123-03:00"),
            ("soon", "soon"),
        ] {
            assert_eq!(time(written), meant, "{written}");
        }
    }
}
