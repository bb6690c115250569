package corpus

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Hash returns a number over all that is exported in a value.
func Hash(v any) uint64 {
	h := &hasher{Hash64: fnv.New64a(), known: map[reference]uint64{}}
	h.value(reflect.ValueOf(v))
	return h.Sum64()
}

// hasher writes values into a hash. What several parts of an answer point to is
// written once.
type hasher struct {
	hash.Hash64
	known map[reference]uint64
}

// reference is memory that values may share.
type reference struct {
	at   uintptr
	size int
	kind reflect.Type
}

func (h *hasher) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.Write([]byte(s)) // a hash returns no error
}

func (h *hasher) number(n uint64) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, n))
}

func (h *hasher) value(v reflect.Value) {
	if !v.IsValid() {
		h.text("nil")
		return
	}
	if h.whole(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		h.pointer(v)
	case reflect.Slice, reflect.Array:
		h.list(v)
	case reflect.Map:
		h.table(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				h.value(v.Field(i))
			}
		}
	case reflect.String:
		h.text(v.String())
	case reflect.Float32, reflect.Float64:
		h.number(math.Float64bits(v.Float()))
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.text(fmt.Sprint(v.Interface()))
	default:
		panic(fmt.Sprintf("corpus: no hash of %s", v.Type()))
	}
}

// whole writes what has a form of its own: objects their name, and what has no
// exported fields its text.
func (h *hasher) whole(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface {
		return false
	}
	switch x := v.Interface().(type) {
	case metav1.Object:
		h.text(x.GetNamespace() + "/" + x.GetName())
	case *cloudprovider.InstanceType:
		h.text(x.Name)
	case json.Marshaler:
		text, err := x.MarshalJSON()
		if err != nil {
			panic(fmt.Sprintf("corpus: %v", err))
		}
		h.text(string(text))
	case error:
		h.text(x.Error())
	case fmt.Stringer:
		if v.Kind() != reflect.Struct || exports(v.Type()) {
			return false
		}
		h.text(x.String())
	default:
		return false
	}
	return true
}

// exports says whether a struct has an exported field.
func exports(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// pointer writes what is pointed to: once in full, and after that its hash.
func (h *hasher) pointer(v reflect.Value) {
	if v.IsNil() {
		h.text("nil")
		return
	}
	if v.Kind() == reflect.Interface {
		h.value(v.Elem())
		return
	}
	h.once(reference{v.Pointer(), 1, v.Type()}, func(part *hasher) { part.value(v.Elem()) })
}

func (h *hasher) list(v reflect.Value) {
	each := func(part *hasher) {
		part.number(uint64(v.Len()))
		for i := range v.Len() {
			part.value(v.Index(i))
		}
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		h.once(reference{v.Pointer(), v.Len(), v.Type()}, each)
		return
	}
	each(h)
}

// once writes the hash of a part, which is worked out the first time.
func (h *hasher) once(at reference, write func(part *hasher)) {
	sum, known := h.known[at]
	if !known {
		part := &hasher{Hash64: fnv.New64a(), known: h.known}
		write(part)
		sum = part.Sum64()
		h.known[at] = sum
	}
	h.number(sum)
}

// table writes a map by its keys, in order.
func (h *hasher) table(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return strings.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
	})
	h.number(uint64(len(keys)))
	for _, k := range keys {
		h.text(fmt.Sprint(k.Interface()))
		h.value(v.MapIndex(k))
	}
}
