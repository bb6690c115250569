package family

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// dice is the source of all random choices.
type dice struct{ *rand.Rand }

// uid returns a random UUID (version 4).
func (d dice) uid() types.UID {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], d.Uint64())
	binary.BigEndian.PutUint64(b[8:], d.Uint64())
	b[6] = 0x40 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// tail returns n random characters for the end of a name. It uses no vowels, so that no words
// appear.
func (d dice) tail(n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(out)
}

// chance returns true with the given probability in percent.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// oneOf returns one of the values, each with the same probability.
func oneOf[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// odds is a value with its weight.
type odds[T any] struct {
	times int
	value T
}

// weighted returns a value at random, in proportion to the weights.
func weighted[T any](d dice, table []odds[T]) T {
	sum := 0
	for _, o := range table {
		sum += o.times
	}
	roll := d.IntN(sum)
	i := 0
	for ; roll >= table[i].times; i++ {
		roll -= table[i].times
	}
	return table[i].value
}

// shuffled returns a copy in random order.
func shuffled[T any](d dice, values []T) []T {
	out := slices.Clone(values)
	d.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
