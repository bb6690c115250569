package attempt

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// TestSame changes each field of what attempts differ in: a packing is not taken for
// that of something else, also once there are more fields.
func TestSame(t *testing.T) {
	problem := func() *pack.Problem {
		member := []pack.Membership{{Rule: 1, Owners: 1, Members: 1, Both: 1}}
		return &pack.Problem{
			Classes: []pack.Class{{Request: []int64{1}, Count: 1, Variants: []pack.Variant{{Options: bitset.New(9)}}, Memberships: member}},
			Nodes:   []pack.Node{{Free: []int64{1}, Classes: bitset.New(1), Memberships: member}},
		}
	}
	require.True(t, same(problem(), problem()))
	parts := map[string]func(*pack.Problem) any{
		"class":   func(p *pack.Problem) any { return &p.Classes[0] },
		"variant": func(p *pack.Problem) any { return &p.Classes[0].Variants[0] },
		"member":  func(p *pack.Problem) any { return &p.Classes[0].Memberships[0] },
		"node":    func(p *pack.Problem) any { return &p.Nodes[0] },
		"beside":  func(p *pack.Problem) any { return &p.Nodes[0].Memberships[0] },
	}
	for name, of := range parts {
		for i := range reflect.TypeOf(of(problem())).Elem().NumField() {
			other := problem()
			field := reflect.ValueOf(of(other)).Elem().Field(i)
			change(field)
			require.False(t, same(problem(), other), "%s: %s", name, reflect.TypeOf(of(other)).Elem().Field(i).Name)
		}
	}
	coarse := problem()
	coarse.Coarse = true
	require.False(t, same(problem(), coarse))
}

// change makes another value of one.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		if v.Index(0).Kind() == reflect.Struct {
			v.SetLen(0)
			return
		}
		change(v.Index(0))
	}
}
