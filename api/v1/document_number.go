package v1

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// plainNumbers returns a valid JSON text with its numbers as the API server stores
// them: what is no whole number of 64 bits is one of floating point, of which it
// keeps neither the point nor the exponent where it is whole. 1.0 is 1, and 1e3 is
// 1000.
func plainNumbers(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = endOfString(data, i)
		case c == '-' || '0' <= c && c <= '9':
			end := i + numberLength(data[i:])
			if text, ok := plainNumber(string(data[i:end])); ok {
				out = append(append(out, data[done:i]...), text...)
				done = end
			}
			i = end - 1
		}
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// endOfString returns where the string ends that begins at i.
func endOfString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

func numberLength(data []byte) int {
	n := bytes.IndexFunc(data, func(c rune) bool { return !strings.ContainsRune("+-.eE0123456789", c) })
	if n < 0 {
		return len(data)
	}
	return n
}

// plainNumber reports false for a number that is stored as it is written, or that
// there is not.
func plainNumber(text string) ([]byte, bool) {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return nil, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	if n == 0 {
		return []byte("0"), true // and not -0
	}
	plain, err := json.Marshal(n)
	return plain, err == nil
}

// shortened keeps a long text from flooding a message.
func shortened(value any) any {
	const limit = 40
	if text, ok := value.(string); ok && len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return value
}
