package v1_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// copyable is every type with a hand-written deep copy.
func copyable() []any {
	return []any{
		&v1.NodePool{}, &v1.NodePoolList{}, &v1.NodePoolSpec{}, &v1.NodePoolStatus{},
		&v1.NodeClaimTemplate{}, &v1.NodeClaimTemplateSpec{}, &v1.ObjectMeta{},
		&v1.Disruption{}, &v1.Budget{}, &v1.NillableDuration{},
		&v1.NodeClaim{}, &v1.NodeClaimList{}, &v1.NodeClaimSpec{}, &v1.NodeClaimStatus{}, &v1.ResourceRequirements{},
		&v1.NodeOverlay{}, &v1.NodeOverlayList{}, &v1.NodeOverlaySpec{}, &v1.NodeOverlayStatus{},
		&v1.NodeSelectorRequirementWithMinValues{}, &v1.NodeSelectorRequirement{}, &v1.NodeClassReference{},
	}
}

func TestDeepCopyIsCompleteAndSharesNothing(t *testing.T) {
	for _, zero := range copyable() {
		t.Run(reflect.TypeOf(zero).Elem().Name(), func(t *testing.T) {
			original := reflect.New(reflect.TypeOf(zero).Elem())
			fill(t, original.Elem(), 0)
			twin := reflect.New(original.Type().Elem())
			fill(t, twin.Elem(), 0)
			requireNoZero(t, original.Elem(), original.Type().String())

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

			scramble(duplicate.Elem())
			require.Equal(t, twin.Interface(), original.Interface(), "a change of the copy must not reach the original")

			null := reflect.Zero(original.Type())
			require.True(t, null.MethodByName("DeepCopy").Call(nil)[0].IsNil())
		})
	}
}

func TestDeepCopyKeepsEmptyApartFromNil(t *testing.T) {
	p := pool()
	p.Spec.Disruption.Budgets = []v1.Budget{}
	p.Spec.Limits = v1.Limits{}
	c := p.DeepCopy()
	require.NotNil(t, c.Spec.Disruption.Budgets)
	require.NotNil(t, c.Spec.Template.Spec.Requirements)
	require.NotNil(t, c.Spec.Limits)
	require.Nil(t, c.Spec.Template.Spec.Taints)
	require.Nil(t, v1.Limits(nil).DeepCopy())
}

func TestLimitsDeepCopyInto(t *testing.T) {
	original := v1.Limits{"cpu": resource.MustParse("1")}
	var out v1.Limits
	original.DeepCopyInto(&out)
	out["cpu"] = resource.MustParse("2")
	cpu := original["cpu"]
	require.Equal(t, "1", cpu.String())
}

func TestDeepCopyObject(t *testing.T) {
	for _, obj := range []runtime.Object{
		&v1.NodePool{}, &v1.NodePoolList{}, &v1.NodeClaim{}, &v1.NodeClaimList{}, &v1.NodeOverlay{}, &v1.NodeOverlayList{},
	} {
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

// fill sets every exported field below v to something that is not zero, and
// gives lists and maps two members.
func fill(t *testing.T, v reflect.Value, seed int) {
	t.Helper()
	switch v.Interface().(type) {
	case resource.Quantity:
		// With a decimal behind a pointer, the case in which a plain assignment
		// would share memory.
		q := resource.MustParse("1.123456789123456789e30")
		v.Set(reflect.ValueOf(q))
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

// requireNoZero proves that fill reaches every field, so that a field which a
// copy forgets shows up as a difference.
func requireNoZero(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if !v.CanInterface() {
		return
	}
	require.False(t, v.IsZero(), path)
	switch v.Interface().(type) {
	case resource.Quantity, time.Time:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		requireNoZero(t, v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			requireNoZero(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			requireNoZero(t, v.Index(i), path+"[]")
		}
	}
}

// requireDisjoint fails if a pointer, list or map is the same in both values,
// unexported fields included.
func requireDisjoint(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	if a.Type() == reflect.TypeFor[*time.Location]() {
		return // shared by design, and immutable
	}
	switch a.Kind() {
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

// scramble overwrites everything that can be reached from v in place.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		if v.CanInterface() {
			v.Clear()
		}
	}
	if v.CanSet() {
		v.SetZero()
	}
}
