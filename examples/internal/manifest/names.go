package manifest

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// letters is the alphabet of generated names: no vowels, so no words, and no
// digits that look like letters.
const letters = "bcdfghjklmnpqrstvwxz2456789"

const (
	suffixLength = 5
	suffixCount  = 27 * 27 * 27 * 27 * 27 // len(letters) to the power of suffixLength
	// suffixStep has no divisor in common with suffixCount, so that adding it
	// again and again visits every suffix once, far from the last.
	suffixStep = 8868112

	maxNameLength = 63
)

// suffixes walks through all suffixes of generated names, in an order that
// looks random but depends on the seed alone.
type suffixes struct{ at uint32 }

func newSuffixes(seed string) *suffixes { return &suffixes{at: hash32([]byte(seed)) % suffixCount} }

func (s *suffixes) next() string {
	n := s.at
	s.at = (s.at + suffixStep) % suffixCount
	var out [suffixLength]byte
	for i := range out {
		out[i] = letters[n%uint32(len(letters))]
		n /= uint32(len(letters))
	}
	return string(out[:])
}

// generated is a name as the API server makes it from a prefix, cut to fit.
func generated(base, suffix string) string {
	if limit := maxNameLength - suffixLength - 1; len(base) > limit {
		base = strings.TrimRight(base[:limit], "-.")
	}
	return base + "-" + suffix
}

func ordinalName(base string, n int) string { return base + "-" + strconv.Itoa(n) }

// templateHash stands in for the pod-template-hash of a Deployment: other
// letters than the real one, but as steady.
func templateHash(t *corev1.PodTemplateSpec) string {
	data, err := json.Marshal(t)
	if err != nil {
		data = []byte(err.Error()) // a decoded template can always be encoded
	}
	digits := strconv.FormatUint(uint64(hash32(data)), 10)
	out := make([]byte, len(digits))
	for i := range digits {
		out[i] = letters[int(digits[i])%len(letters)]
	}
	return string(out)
}

func hash32(data []byte) uint32 {
	h := fnv.New32a()
	h.Write(data)
	return h.Sum32()
}
