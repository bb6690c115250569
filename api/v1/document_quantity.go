package v1

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Bounds of the text of a quantity. Without them a few characters, such as
// 1e-99999999, would take minutes to work out, and more memory than there is.
const (
	maxQuantity = 100
	maxExponent = "e-123"
)

// endlessQuantity reports whether a value takes too long to be read as a quantity.
// data is the document that it is in.
func endlessQuantity(value any, data []byte) bool {
	switch value := value.(type) {
	case string:
		return endlessText(value)
	case float64:
		// A number so small has become zero in the tree, and is itself in the text.
		return value == 0 && endlessNumber(data)
	}
	return false
}

// endlessText reports whether a text is too long, or an exponent in it has more than
// three digits. E stands for a unit too, which nothing but an i follows.
func endlessText(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	return len(text) > maxQuantity || i >= 0 && len(text)-i > len(maxExponent)
}

// endlessNumber reports whether one of the numbers in a JSON text is too long.
func endlessNumber(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if n, ok := token.(json.Number); ok && endlessText(n.String()) {
			return true
		}
	}
}

// shortened keeps a long text from flooding a message.
func shortened(value any) any {
	const limit = 40
	if text, ok := value.(string); ok && len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return value
}
