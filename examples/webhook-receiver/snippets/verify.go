package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Verify tells whether one of the signatures was made of the raw body (io.ReadAll of a bounded
// reader) with the secret. Hand in both signature headers; the one that is missing is "".
//
//	Verify(secret, body, r.Header.Get("X-Service-Signature"),
//		r.Header.Get("X-Service-Signature-Previous"))
func Verify(secret string, body []byte, signatures ...string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	for _, given := range signatures {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}
