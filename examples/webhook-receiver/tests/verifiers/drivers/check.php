<?php
// Reads lines of secret, body and signatures in base64, answers each with true or false.
require $argv[1];
while (($line = fgets(STDIN)) !== false) {
    $parts = array_map('base64_decode', explode(' ', rtrim($line, "\n")));
    $signatures = array_map(fn ($text) => $text === '' ? null : $text, array_slice($parts, 2));
    echo verify($parts[0], $parts[1], ...$signatures) ? "true\n" : "false\n";
}
