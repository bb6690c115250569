package resources_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// An operation on empty lists returns the zero List.
func TestArithmeticOfNothing(t *testing.T) {
	var none resources.List
	sum, err := none.Add(none)
	require.NoError(t, err)
	product, err := none.Mul(3)
	require.NoError(t, err)
	require.Equal(t, []resources.List{none, none, none}, []resources.List{sum, product, none.Max(none)})
}

func TestOverflowNamesEveryResource(t *testing.T) {
	big := resources.New(map[name]int64{"cpu": math.MaxInt64, "memory": math.MinInt64, "pods": 1})
	_, err := big.Add(resources.New(map[name]int64{"cpu": 1, "memory": -1, "pods": 1}))
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.EqualError(t, err, "resource cpu: 9223372036854775807m + 1m: amount out of range; use smaller amounts\n"+
		"resource memory: -9223372036854775808 + -1: amount out of range; use smaller amounts")

	_, err = big.Sub(resources.New(map[name]int64{"cpu": -1, "memory": 1}))
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.ErrorContains(t, err, "resource cpu: 9223372036854775807m - -1m")
	require.ErrorContains(t, err, "resource memory: -9223372036854775808 - 1:")

	_, err = big.Mul(2)
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.ErrorContains(t, err, "resource cpu: 9223372036854775807m * 2")
	require.NotContains(t, err.Error(), "pods")
	_, err = big.Mul(-1)
	require.ErrorContains(t, err, "resource memory")
	require.NotContains(t, err.Error(), "cpu")
	_, err = parse("pods=-1").Mul(math.MinInt64)
	require.ErrorIs(t, err, resources.ErrOverflow)
}

// Arithmetic agrees with big integers: either the exact result, or an error
// where that lies outside int64.
func TestArithmeticLaws(t *testing.T) {
	type operation func(l, m resources.List) (resources.List, error)
	agrees := func(a, b randomList, op operation, exact func(x, y *big.Int) *big.Int) bool {
		got, err := op(a.list, b.list)
		overflow := false
		for n := range union(a.list, b.list) {
			want := exact(big.NewInt(a.Get(n)), big.NewInt(b.Get(n)))
			if !want.IsInt64() {
				overflow = true
			} else if err == nil && got.Get(n) != want.Int64() {
				return false
			}
		}
		return overflow == (err != nil) && (err != nil || got.Len() == len(union(a.list, b.list)))
	}
	check(t, "addition is exact", func(a, b randomList) bool {
		return agrees(a, b, resources.List.Add, func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) })
	})
	check(t, "subtraction is exact", func(a, b randomList) bool {
		return agrees(a, b, resources.List.Sub, func(x, y *big.Int) *big.Int { return new(big.Int).Sub(x, y) })
	})
	check(t, "multiplication is exact", func(a randomList, n int64, shift uint8) bool {
		n >>= shift % 64
		mul := func(l, _ resources.List) (resources.List, error) { return l.Mul(n) }
		return agrees(a, randomList{}, mul, func(x, _ *big.Int) *big.Int { return x.Mul(x, big.NewInt(n)) })
	})
	check(t, "a sum taken apart is whole", func(a, b randomList) bool {
		sum, err := a.Add(b.list)
		if err != nil {
			return true
		}
		back, err := sum.Sub(b.list)
		return err == nil && back.Max(a.list).Equal(back) && back.Min(a.list).Equal(back)
	})
}
