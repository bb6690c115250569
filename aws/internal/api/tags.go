package api

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Tags returns tags in the form of EC2, sorted by key.
func Tags(tags map[string]string) []ec2types.Tag {
	out := make([]ec2types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		out = append(out, ec2types.Tag{Key: &key, Value: &value})
	}
	return out
}

// ClientToken returns an idempotency token of at most 64 characters for the call that parts
// identify.
func ClientToken(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "dovetail-" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
