<?php
// PHP 7.1 or newer, nothing to install. $body is the raw body: file_get_contents('php://input').
// Hand in both signature headers; the one that is missing is null.

function verify(string $secret, string $body, ?string ...$signatures): bool
{
    $expected = 'sha256=' . hash_hmac('sha256', $body, $secret);
    foreach ($signatures as $given) {
        if (hash_equals($expected, $given ?? '')) {
            return true;
        }
    }
    return false;
}

// verify($secret, $body, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null,
//     $_SERVER['HTTP_X_SERVICE_SIGNATURE_PREVIOUS'] ?? null);
