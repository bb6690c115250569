package v1_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// copyable is every type with a hand-written deep copy.
func copyable() []any {
	return []any{
		&v1.EC2NodeClass{}, &v1.EC2NodeClassList{}, &v1.EC2NodeClassSpec{}, &v1.EC2NodeClassStatus{},
		&v1.SubnetSelectorTerm{}, &v1.SecurityGroupSelectorTerm{}, &v1.CapacityReservationSelectorTerm{},
		&v1.PlacementGroupSelector{}, &v1.AMISelectorTerm{}, &v1.KubeletConfiguration{},
		&v1.BlockDeviceMapping{}, &v1.BlockDevice{}, &v1.MetadataOptions{}, &v1.EnclaveOptions{}, &v1.ConnectionTracking{},
		&v1.CPUOptions{}, &v1.AMI{}, &v1.CapacityReservation{},
	}
}

func TestDeepCopyIsCompleteAndSharesNothing(t *testing.T) {
	for _, zero := range copyable() {
		t.Run(reflect.TypeOf(zero).Elem().Name(), func(t *testing.T) {
			original := reflect.New(reflect.TypeOf(zero).Elem())
			fill(t, original.Elem(), 0)
			require.False(t, hasZero(original.Elem()), "every field is set, so a copy that forgets one differs")

			duplicate := original.MethodByName("DeepCopy").Call(nil)[0]
			require.Equal(t, original.Interface(), duplicate.Interface())
			requireDisjoint(t, original, duplicate, original.Type().String())

			// Into overwrites whatever was there.
			into := reflect.New(original.Type().Elem())
			fill(t, into.Elem(), 7)
			original.MethodByName("DeepCopyInto").Call([]reflect.Value{into})
			require.Equal(t, original.Interface(), into.Interface())
			requireDisjoint(t, original, into, original.Type().String())

			empty := reflect.New(original.Type().Elem())
			empty.MethodByName("DeepCopyInto").Call([]reflect.Value{into})
			require.Equal(t, empty.Interface(), into.Interface(), "nil stays nil")

			null := reflect.Zero(original.Type())
			require.True(t, null.MethodByName("DeepCopy").Call(nil)[0].IsNil())
		})
	}
}

func TestDeepCopyKeepsEmptyApartFromNil(t *testing.T) {
	c := class()
	c.Spec.Tags = map[string]string{}
	c.Spec.BlockDeviceMappings = []v1.BlockDeviceMapping{}
	c.Spec.NetworkInterfaces = []v1.NetworkInterface{}
	c.Spec.Kubelet = &v1.KubeletConfiguration{ClusterDNS: []string{}}
	require.Equal(t, c, c.DeepCopy())
	require.Equal(t, c.Hash(""), c.DeepCopy().Hash(""))
}

func TestDeepCopyObject(t *testing.T) {
	for _, obj := range []runtime.Object{&v1.EC2NodeClass{}, &v1.EC2NodeClassList{}} {
		v := reflect.ValueOf(obj)
		fill(t, v.Elem(), 0)
		c := obj.DeepCopyObject()
		require.Equal(t, obj, c)
		requireDisjoint(t, v, reflect.ValueOf(c), v.Type().String())

		null, ok := reflect.Zero(v.Type()).Interface().(runtime.Object)
		require.True(t, ok)
		require.True(t, null.DeepCopyObject() == nil, "an interface without a value, not one with a nil pointer")
	}
}

func TestTermsShareNothing(t *testing.T) {
	c := class()
	c.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{Tags: map[string]string{"a": "b"}, Owner: "self"}}
	before := c.DeepCopy()
	terms := c.AMITerms()
	require.Len(t, terms, 1)
	require.Equal(t, c.Spec.AMISelectorTerms[0], v1.AMISelectorTerm(terms[0]))
	terms[0].Tags["a"] = "x"
	require.Equal(t, before, c)
	require.Nil(t, (&v1.EC2NodeClass{}).AMITerms())
}

// fill sets every exported field below v to something that is not zero, and
// gives lists and maps two members.
func fill(t *testing.T, v reflect.Value, seed int) {
	t.Helper()
	switch v.Interface().(type) {
	case resource.Quantity:
		// With a decimal behind a pointer, the case in which a plain assignment
		// would share memory.
		v.Set(reflect.ValueOf(resource.MustParse("1.123456789123456789e30")))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(1000+seed), 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), seed)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), seed+i+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i), seed+i)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, seed+i)
			fill(t, value, seed+i)
			v.SetMapIndex(key, value)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"list": []any{float64(seed), "text", true}}))
	case reflect.String:
		v.SetString("text" + string(rune('a'+seed%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(seed + 1))
	case reflect.Uint8:
		v.SetUint(uint64(seed%250 + 1))
	default:
		t.Fatalf("fill does not know %s", v.Type())
	}
}

// hasZero reports whether some exported field below v is zero.
func hasZero(v reflect.Value) bool {
	if !v.CanInterface() {
		return false
	}
	if v.IsZero() {
		return true
	}
	switch v.Interface().(type) {
	case resource.Quantity, time.Time:
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return hasZero(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if hasZero(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if hasZero(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

// requireDisjoint fails if a pointer, list or map is the same in both values,
// unexported fields included.
func requireDisjoint(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	if a.Type() == reflect.TypeFor[*time.Location]() {
		return // shared by design, and immutable
	}
	switch a.Kind() {
	case reflect.Interface:
		requireDisjoint(t, a.Elem(), b.Elem(), path)
	case reflect.Pointer:
		if a.IsNil() {
			return
		}
		require.NotEqual(t, a.Pointer(), b.Pointer(), path)
		requireDisjoint(t, a.Elem(), b.Elem(), path)
	case reflect.Struct:
		for i := range a.NumField() {
			requireDisjoint(t, a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	case reflect.Slice:
		if a.Len() == 0 {
			return
		}
		require.NotEqual(t, a.Pointer(), b.Pointer(), path)
		for i := range a.Len() {
			requireDisjoint(t, a.Index(i), b.Index(i), path+"[]")
		}
	case reflect.Map:
		if a.IsNil() {
			return
		}
		require.NotEqual(t, a.Pointer(), b.Pointer(), path)
		for _, key := range a.MapKeys() {
			requireDisjoint(t, a.MapIndex(key), b.MapIndex(key), path+"{}")
		}
	}
}
