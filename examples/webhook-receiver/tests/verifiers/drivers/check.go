package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// Reads lines of secret, body and signatures in base64, answers each with true or false.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var parts []string
		for _, part := range strings.Split(lines.Text(), " ") {
			decoded, err := base64.StdEncoding.DecodeString(part)
			if err != nil {
				panic(err)
			}
			parts = append(parts, string(decoded))
		}
		fmt.Println(Verify(parts[0], []byte(parts[1]), parts[2:]...))
	}
}
