//! QR codes as PNG, for gateways that make no picture of their codes.

use qrcode::{Color, EcLevel, QrCode};

/// The first bytes of every PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The light modules around a code.
const MARGIN: usize = 4;
/// The pixels of a module in each direction: a module of a row is one byte of one-bit pixels.
const SCALE: usize = 8;
/// The most bytes of a block that is not compressed.
const BLOCK: usize = 0xFFFF;

/// The QR code of a text; `None` for one that is too long.
pub(crate) fn png(text: &str) -> Option<Vec<u8>> {
    // A code on a screen is not damaged, so the lowest level of correction, with the smallest code,
    // is enough.
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let side = code.width() + 2 * MARGIN;
    let pixels = u32::try_from(side * SCALE).ok()?;
    let mut header = [pixels.to_be_bytes(), pixels.to_be_bytes()].concat();
    // One bit of grey, in the only compression, filter and order there are.
    header.extend([1, 0, 0, 0, 0]);
    let mut png = SIGNATURE.to_vec();
    chunk(&mut png, b"IHDR", &header);
    chunk(&mut png, b"IDAT", &stored(&rows(&code, side)));
    chunk(&mut png, b"IEND", &[]);
    Some(png)
}

/// The rows of the picture, each after the byte for "not filtered".
fn rows(code: &QrCode, side: usize) -> Vec<u8> {
    let inner = MARGIN..side - MARGIN;
    let module = |x: usize, y: usize| {
        let is_code = inner.contains(&x) && inner.contains(&y);
        let dark = is_code && code[(x - MARGIN, y - MARGIN)] == Color::Dark;
        if dark { 0x00 } else { 0xFF }
    };
    (0..side * SCALE)
        .flat_map(|row| std::iter::once(0).chain((0..side).map(move |x| module(x, row / SCALE))))
        .collect()
}

/// Bytes as a zlib stream without compression.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    png.extend(length.to_be_bytes());
    let named = [kind.as_slice(), data].concat();
    png.extend(&named);
    png.extend(crc32(&named).to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    let one = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shift(crc));
    !bytes.iter().fold(u32::MAX, one)
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let add = |(a, b): (u32, u32), byte: &u8| {
        let a = (a + u32::from(*byte)) % MODULUS;
        (a, (a + b) % MODULUS)
    };
    let (a, b) = bytes.iter().fold((1, 0), add);
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_that_are_known_of_a_text() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn a_picture_is_the_code_with_a_margin() {
        let png = png("2@abc").expect("it fits");
        assert!(png.starts_with(SIGNATURE));
        // 21 modules and twice 4 of margin, 8 pixels each, one bit of grey.
        let header = b"\0\0\0\x0DIHDR\0\0\0\xE8\0\0\0\xE8\x01\0\0\0\0";
        assert_eq!(&png[8..33 - 4], header);
        assert!(png.ends_with(b"\0\0\0\0IEND\xAE\x42\x60\x82"));
        // The one block of 232 rows of 30 bytes.
        let data = &png[33 + 8 + 2..];
        let length = u16::from_le_bytes([data[1], data[2]]);
        assert_eq!((data[0], length), (1, 232 * 30));
        let row = |n: usize| &data[5 + n * 30..][..30];
        assert!((0..32).all(|n| row(n)[1..].iter().all(|byte| *byte == 0xFF)), "a margin");
        // The upper edge of the corner marks: seven dark modules at either end.
        let edge = row(32);
        assert_eq!(edge, row(39));
        assert_eq!((&edge[..5], &edge[5..12]), (&[0, 255, 255, 255, 255][..], &[0; 7][..]));
        assert_eq!((&edge[19..26], &edge[26..]), (&[0; 7][..], &[255; 4][..]));
    }

    #[test]
    fn long_texts_are_drawn_in_several_blocks_and_longer_ones_not_at_all() {
        assert!(png(&"x".repeat(2_000)).is_some_and(|png| png.len() > BLOCK));
        assert_eq!(png(&"x".repeat(5_000)), None);
    }
}
