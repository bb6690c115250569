package structhash_test

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// std is FNV-1 of the standard library.
func std(data ...byte) uint64 {
	h := fnv.New64()
	h.Write(data)
	return h.Sum64()
}

func TestLeavesAreFNV1(t *testing.T) {
	require.Equal(t, std([]byte("text")...), structhash.Text("text"))
	require.Equal(t, std([]byte("text")...), structhash.Bytes([]byte("text")))
	require.Equal(t, std(), structhash.Text(""))
	require.Equal(t, std(1), structhash.Bool(true))
	require.Equal(t, std(0), structhash.Bool(false))
	require.Equal(t, std(0xfe, 0xff, 0xff, 0xff), structhash.Int32(-2))
	require.Equal(t, std(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), structhash.Int64(-2))
	require.Equal(t, std(1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0), structhash.Words(1, 2))
	three := binary.LittleEndian.AppendUint64(nil, 1)
	three = binary.LittleEndian.AppendUint64(three, 2)
	three = binary.LittleEndian.AppendUint64(three, 3)
	require.Equal(t, std(three...), structhash.Words(1, 2, 3))
}

func TestListsAndMapsHaveNoOrder(t *testing.T) {
	require.Equal(t,
		structhash.List([]string{"a", "b", "c"}, structhash.Text),
		structhash.List([]string{"c", "a", "b"}, structhash.Text))
	require.Zero(t, structhash.List([]string{"a", "a"}, structhash.Text), "equal items cancel out")
	require.Zero(t, structhash.List(nil, structhash.Text))
	require.Equal(t, structhash.Words(0), structhash.Map[string](nil, structhash.Text))
	require.NotEqual(t,
		structhash.Map(map[string]string{"a": "b"}, structhash.Text),
		structhash.Map(map[string]string{"b": "a"}, structhash.Text))
}

func TestStructLeavesOutZeroFields(t *testing.T) {
	empty := structhash.Of("T")
	s := structhash.Of("T")
	s.Text("A", "")
	structhash.Pointer(&s, "B", nil, structhash.Text)
	structhash.Pointer(&s, "C", nil, structhash.Bool)
	structhash.Pointer(&s, "D", nil, structhash.Int32)
	structhash.Pointer(&s, "E", nil, structhash.Int64)
	s.TextMap("G", nil)
	require.Equal(t, empty.Sum(), s.Sum())
	require.Equal(t, structhash.Text("T"), empty.Sum())
}

func TestStructTellsSetFieldsApart(t *testing.T) {
	seen := map[uint64]string{structhash.Text("T"): "nothing"}
	for name, set := range map[string]func(*structhash.Struct){
		"text":          func(s *structhash.Struct) { s.Text("A", "x") },
		"other name":    func(s *structhash.Struct) { s.Text("B", "x") },
		"empty pointer": func(s *structhash.Struct) { structhash.Pointer(s, "A", new(string), structhash.Text) },
		"false":         func(s *structhash.Struct) { structhash.Pointer(s, "A", new(bool), structhash.Bool) },
		"zero of four":  func(s *structhash.Struct) { structhash.Pointer(s, "A", new(int32), structhash.Int32) },
		"zero of eight": func(s *structhash.Struct) { structhash.Pointer(s, "N", new(int64), structhash.Int64) },
		"no pairs":      func(s *structhash.Struct) { s.TextMap("A", map[string]string{}) },
		"a then b":      func(s *structhash.Struct) { s.Text("A", "x"); s.Text("B", "x") },
		"b then a":      func(s *structhash.Struct) { s.Text("B", "x"); s.Text("A", "x") },
	} {
		s := structhash.Of("T")
		set(&s)
		require.NotContains(t, seen, s.Sum(), "%s hashes like %s", name, seen[s.Sum()])
		seen[s.Sum()] = name
	}
}
