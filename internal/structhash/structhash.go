package structhash

import "encoding/binary"

// Struct accumulates the hash of a struct. Begin with Of and add the fields in
// the order of their declaration, which counts. The zero Struct is of no use.
type Struct struct {
	sum uint64
}

// Of begins the hash of a struct whose type has this name.
func Of(typeName string) Struct {
	return Struct{sum: Text(typeName)}
}

// Sum returns the hash of the fields so far.
func (s *Struct) Sum() uint64 {
	return s.sum
}

// Field adds a field by the hash of its value. The field is mixed in by
// exclusive or and the sum is hashed again after it.
func (s *Struct) Field(name string, value uint64) {
	s.sum = Words(s.sum ^ Words(Text(name), value))
}

// Text adds a field of type string, unless it is empty.
func (s *Struct) Text(name, value string) {
	if value != "" {
		s.Field(name, Text(value))
	}
}

// Pointer adds a pointer field by the hash of its target. A nil pointer is left out.
func Pointer[T any](s *Struct, name string, value *T, hash func(T) uint64) {
	if value != nil {
		s.Field(name, hash(*value))
	}
}

// TextMap adds a field that is a map of strings, unless it is nil.
func (s *Struct) TextMap(name string, values map[string]string) {
	if values != nil {
		s.Field(name, Map(values, Text))
	}
}

// List hashes a list without regard to order. A nil list hashes like an empty
// one.
func List[T any](items []T, hash func(T) uint64) uint64 {
	var set uint64
	for _, item := range items {
		set ^= hash(item)
	}
	return set
}

// Map hashes a map with keys of type string. A nil map hashes like an empty one.
func Map[T any](m map[string]T, hash func(T) uint64) uint64 {
	var set uint64
	for k, v := range m {
		set ^= Words(Text(k), hash(v))
	}
	return Words(set)
}

// Text hashes a string.
func Text(s string) uint64 {
	return fnv1(s)
}

// Bytes hashes a string of bytes.
func Bytes(data []byte) uint64 {
	return fnv1(data)
}

// Bool hashes a truth value as one byte, 1 or 0.
func Bool(v bool) uint64 {
	if v {
		return fnv1([]byte{1})
	}
	return fnv1([]byte{0})
}

// Int32 hashes a number as four bytes.
func Int32(v int32) uint64 {
	var buf [4]byte
	binary.LittleEndian.PutUint32(buf[:], uint32(v))
	return fnv1(buf[:])
}

// Int64 hashes a number as eight bytes.
func Int64(v int64) uint64 {
	return Words(uint64(v))
}

// Words hashes numbers of eight bytes one after the other; up to two need no
// memory.
func Words(values ...uint64) uint64 {
	var buf [16]byte
	data := buf[:0]
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, v)
	}
	return fnv1(data)
}

// fnv1 returns the 64-bit FNV-1 hash (multiply, then exclusive or).
func fnv1[T string | []byte](data T) uint64 {
	const (
		offset = 14695981039346656037
		prime  = 1099511628211
	)
	sum := uint64(offset)
	for i := range len(data) {
		sum *= prime
		sum ^= uint64(data[i])
	}
	return sum
}
