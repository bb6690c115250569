package command

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Limits of the NodeClaims in a record.
const (
	// recordSize is the largest size in bytes of a record that contains NodeClaims. The other
	// annotations of an object need the rest of its 256 KiB.
	recordSize = 224 << 10
	// claimsSize is the largest size in bytes of these NodeClaims after decompression.
	claimsSize = 4 << 20
)

// Claims returns the NodeClaims of Spec.Claims, in the order of Replacements and with their names.
// A program that restarts launches from them. There are none if the spec has none, or if they do
// not fit into the annotation with the rest of the record. The caller owns them.
func (c Command) Claims() []*v1.NodeClaim {
	claims, err := unpackClaims(c.claims)
	if err != nil || len(claims) != len(c.Replacements) {
		return nil // New and ParseRecord make no such command
	}
	for i, claim := range claims {
		claim.Name, claim.GenerateName = c.Replacements[i].Token, ""
	}
	return claims
}

// claimsText returns the claims as JSON without their names, which the command sets. It is nil
// without claims.
func claimsText(claims []*v1.NodeClaim) ([]byte, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	nameless := make([]v1.NodeClaim, len(claims))
	for i, claim := range claims {
		nameless[i] = *claim
		nameless[i].Name = ""
	}
	return json.Marshal(nameless)
}

// keepClaims compresses the text of the claims into the command if its record has room for it.
// NodeClaims list hundreds of instance types, but mostly the same ones.
func (c *Command) keepClaims(text []byte) {
	if len(text) == 0 || len(text) > claimsSize {
		return
	}
	var packed strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &packed)
	w, _ := flate.NewWriter(encoder, flate.DefaultCompression) // the level is a good one
	_, _ = w.Write(text)                                       // a builder takes everything
	_, _ = w.Close(), encoder.Close()
	c.claims = packed.String()
	if len(Record{Command: *c}.String()) > recordSize {
		c.claims = ""
	}
}

// unpackClaims reads the output of keepClaims. It is untrusted: any client that may edit a
// NodeClaim could have written it.
func unpackClaims(packed string) ([]*v1.NodeClaim, error) {
	if packed == "" {
		return nil, nil
	}
	r := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	text, err := io.ReadAll(io.LimitReader(r, claimsSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > claimsSize {
		return nil, fmt.Errorf("they have more than %d bytes", claimsSize)
	}
	var claims []*v1.NodeClaim
	if err := json.Unmarshal(text, &claims); err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return nil, errors.New("there are none")
	}
	return claims, nil
}
