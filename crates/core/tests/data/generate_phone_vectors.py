#!/usr/bin/env python3
"""Makes phone_vectors.json: inputs, and what an implementation that is not ours makes of them.

The numbering plans are those of the Python package `phonenumbers` (9.0.43); the forms of Brazilian
and Mexican numbers (D15), the order of the readings (D14) and the refusal of letters and extensions
are written here a second time, in other words than in the crate.

    pip install phonenumbers==9.0.43
    python3 generate_phone_vectors.py > phone_vectors.json
"""

import json
import random
import re

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat, PhoneNumberType

RANDOM = random.Random(20261121)

AREA_CODES = [
    11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 51, 53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77,
    79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94, 95, 96, 97, 98, 99,
]
NO_AREA_CODES = [n for n in range(100) if n not in AREA_CODES]

# Vectors on which the metadata of the crate and of the package differ: none so far. Put
# (region, input) here with the reason, only for numbers outside Brazil.
DROPPED = set()


def planned(number):
    """D15 on the text of the national number: a Brazilian area code and eight digits from 6 on get
    the ninth digit, a Mexican 1 before ten digits is dropped."""
    national = phonenumbers.national_significant_number(number)
    if number.country_code == 55 and re.fullmatch(r"[1-9]\d[6-9]\d{7}", national):
        return phonenumbers.parse("+55" + national[:2] + "9" + national[2:], None)
    if number.country_code == 52 and re.fullmatch(r"1\d{10}", national):
        return phonenumbers.parse("+52" + national[1:], None)
    return number


def valid(text, region):
    try:
        number = planned(phonenumbers.parse(text, region))
    except NumberParseException:
        return None
    if number.extension is not None or not phonenumbers.is_valid_number(number):
        return None
    e164 = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    # E.164 ends at fifteen digits; and a number must be read back as itself.
    if len(e164) > 16 or planned(phonenumbers.parse(e164, None)) != number:
        return None
    return e164


def expected(text, region):
    """The E.164 form, or None where the input must be refused."""
    text = text.strip()
    if not re.fullmatch(r"[+]?[^+]*|\([+][^+]*", text) or not re.fullmatch(r"[0-9+() .\-/]*", text):
        return None
    digits = re.sub(r"\D", "", text)
    readings = []
    if "+" in text:
        readings.append((text, None))
    else:
        readings.append((text, region))
        if digits.startswith(str(phonenumbers.country_code_for_region(region))):
            readings.append(("+" + digits, None))
    # The Brazilian country code twice: too long to be the area code 55.
    if ("+" in text or region == "BR") and re.fullmatch(r"5555\d{10,11}", digits):
        readings.append(("+" + digits[2:], None))
    return next((e164 for e164 in (valid(*r) for r in readings) if e164), None)


def digits_of(count):
    return "".join(RANDOM.choice("0123456789") for _ in range(count))


def notations(area, local):
    start, end = local[:-4], local[-4:]
    carrier = RANDOM.choice([12, 14, 15, 21, 22, 23, 24, 25, 31, 41, 43, 55, 65, 99])
    return [
        f"+55{area}{local}",
        f"+55 ({area}) {start}-{end}",
        f"55{area}{local}",
        f"{area}{local}",
        f"({area}) {start}-{end}",
        f"0{area} {start} {end}",
        f"0 {carrier} {area} {start}-{end}",
        f"0{carrier}{area}{local}",
        f"5555{area}{local}",
        f"+55 0{area} {start}.{end}",
        f"+5555{area}{local}",
        f"90 {carrier} {area} {start}-{end}",
        f"00 {carrier} 55 {area} {start}-{end}",
    ]


def brazilian():
    for area in AREA_CODES:
        locals_ = [
            RANDOM.choice("2345") + digits_of(7),
            RANDOM.choice("6789") + digits_of(7),
            "9" + RANDOM.choice("6789") + digits_of(7),
            "9" + RANDOM.choice("012345") + digits_of(7),
        ]
        for local in locals_:
            yield from RANDOM.sample(notations(f"{area:02}", local), 7)
        # Wrong: no number begins so, or the length fits nothing.
        wrong = [RANDOM.choice("01") + digits_of(7), RANDOM.choice("2345678") + digits_of(8)]
        wrong += [digits_of(7), "9" + digits_of(9)]
        for local in wrong:
            yield from RANDOM.sample(notations(f"{area:02}", local), 2)
    for area in NO_AREA_CODES:
        for local in [RANDOM.choice("2345") + digits_of(7), "9" + digits_of(8), "8" + digits_of(7)]:
            yield from RANDOM.sample(notations(f"{area:02}", local), 3)
    # Numbers of no area, short ones and the refused notations.
    for _ in range(6):
        yield from [f"0800 {digits_of(3)} {digits_of(4)}", f"55 800 {digits_of(6)}"]
        yield from [f"0300 {digits_of(3)} {digits_of(4)}", f"4004-{digits_of(4)}"]
        yield from [f"55 4004 {digits_of(4)}", f"0500{digits_of(7)}", f"0900 {digits_of(6)}"]
        yield from [f"9{digits_of(4)}-{digits_of(4)}", f"3{digits_of(3)}-{digits_of(4)}"]
        mobile = f"34 99{digits_of(3)}-{digits_of(4)}"
        yield from [f"{mobile} ramal 2", f"{mobile}x12", f"+55 {mobile};ext=1", f"tel:+55{mobile}"]
        yield from [f"++55 {mobile}", f"55+{mobile}", f"(+55) {mobile}", f"{mobile} # 3"]
        yield from [f"{mobile}, {mobile}", f"+55/{mobile}", digits_of(RANDOM.randint(1, 20))]


def international():
    kinds = [PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE]
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        if region == "BR":
            continue
        kind = RANDOM.choice(kinds)
        number = phonenumbers.example_number_for_type(region, kind)
        if number is None:
            continue
        e164 = phonenumbers.format_number(number, PhoneNumberFormat.E164)
        national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
        spaced = phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
        yield region, RANDOM.choice([e164, spaced])
        yield region, RANDOM.choice([national, e164[1:]])
        # Seen from Brazil, the same digits without + are no such number.
        if RANDOM.random() < 0.3:
            yield "BR", e164
            yield "BR", e164[1:]
        # One digit changed, missing or too many: valid or not as the plan has it.
        at = RANDOM.randrange(4, len(e164))
        changed = e164[:at] + digits_of(1) + e164[at + 1 :]
        yield region, RANDOM.choice([changed, e164[:-1], e164 + digits_of(1)])
    # Mexican numbers with the former 1, and Argentine ones with and without their 9.
    for area in ["55", "33", "81", "222", "998"]:
        national = (area + "12345678")[:10]
        for written in [f"+521{national}", f"+52 1 {national}", f"+52{national}", f"521{national}"]:
            yield "BR", written
        for written in [national, f"1 {national}", f"521{national}", f"52{national}"]:
            yield "MX", written
    for national in ["1123456789", "2214567890", "3515678901", "2944456789"]:
        for written in [f"+549{national}", f"+54{national}", f"+54 9 {national}"]:
            yield "BR", written
        for written in [national, f"9{national}", f"549{national}", f"0{national}"]:
            yield "AR", written
    for number in ["+80012345678", "+883510012345", "+999123456", "+"]:
        yield "BR", number


def main():
    vectors = {}
    for text in brazilian():
        vectors[("BR", text)] = expected(text, "BR")
    for region, text in international():
        vectors[(region, text)] = expected(text, region)
    rows = [
        json.dumps([region, text, e164], separators=(",", ":"))
        for (region, text), e164 in vectors.items()
        if (region, text) not in DROPPED
    ]
    print("[" + ",\n".join(rows) + "]")


main()
