//! How long the reading of a phone and the folding of search texts take.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use recado_core::contacts::{Email, Phone, Region, SearchQuery, SearchText, normalize};

fn phones(criterion: &mut Criterion) {
    let region = Region::br();
    let mut group = criterion.benchmark_group("phone");
    for (name, input) in [
        ("e164", "+5534991234567"),
        ("without_ninth", "+55 (34) 9123-4567"),
        ("national", "034 99123 4567"),
        ("country_code_without_plus", "5534991234567"),
        ("invalid", "34 1212-3456"),
    ] {
        group.bench_function(name, |bench| bench.iter(|| Phone::parse(black_box(input), &region)));
    }
    group.finish();
}

fn search(criterion: &mut Criterion) {
    let phone = Phone::parse("+5534991234567", &Region::br()).ok();
    let email = Email::parse("maria.goncalves@example.com.br").ok();
    let name = "Maria Conceição de Araújo Gonçalves";
    let mut group = criterion.benchmark_group("search");
    group.bench_function("normalize_accents", |bench| bench.iter(|| normalize(black_box(name))));
    group.bench_function("normalize_ascii", |bench| {
        bench.iter(|| normalize(black_box("maria.goncalves@example.com.br")));
    });
    group.bench_function("text_of_contact", |bench| {
        bench.iter(|| {
            SearchText::of(
                black_box(name),
                "Maria",
                email.as_ref(),
                "5534991234567",
                phone.as_ref(),
            )
        });
    });
    group.bench_function("query", |bench| {
        bench.iter(|| SearchQuery::parse(black_box("(34) 99123-4567")));
    });
    group.finish();
}

criterion_group!(benches, phones, search);
criterion_main!(benches);
