package requirements_test

import (
	"fmt"
	"math"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func ExampleNew() {
	r, err := requirements.New("cpu", "Gt", "4")
	fmt.Println(r, err)
	_, err = requirements.New("cpu", "In")
	fmt.Println(err)
	// Output:
	// cpu > 4 <nil>
	// label "cpu": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent
}

func ExampleIn() {
	fmt.Println(requirements.In("zone", "b", "a"))
	fmt.Println(requirements.In("zone", "a"))
	fmt.Println(requirements.In("zone"), requirements.In("zone").Impossible())
	// Output:
	// zone in (a, b)
	// zone = a
	// zone in () true
}

func ExampleNotIn() {
	r := requirements.NotIn("zone", "a")
	fmt.Println(r, r.Has("a"), r.Has("b"), r.AllowsAbsent())
	// Output:
	// zone notin (a) false true true
}

func ExampleExists() {
	r := requirements.Exists("gpu")
	fmt.Println(r, r.Has("anything"), r.AllowsAbsent())
	// Output:
	// gpu true false
}

func ExampleDoesNotExist() {
	r := requirements.DoesNotExist("gpu")
	fmt.Println(r, r.Has("anything"), r.AllowsAbsent())
	// Output:
	// !gpu false true
}

func ExampleGt() {
	r := requirements.Gt("cpu", 4)
	fmt.Println(r, r.Has("4"), r.Has("5"), r.Has("005"), r.Has("many"))
	fmt.Println(requirements.Gt("cpu", math.MaxInt64).Impossible())
	// Output:
	// cpu > 4 false true true false
	// true
}

func ExampleGte() {
	fmt.Println(requirements.Gte("cpu", 4))
	fmt.Println(requirements.Gte("cpu", 0))
	// Output:
	// cpu > 3
	// cpu >= 0
}

func ExampleLt() {
	fmt.Println(requirements.Lt("cpu", 16))
	// Output:
	// cpu < 16
}

func ExampleLte() {
	fmt.Println(requirements.Lte("cpu", 16))
	// Output:
	// cpu < 17
}

func ExampleRequirement_Key() {
	fmt.Println(requirements.Exists("team").Key())
	// Output:
	// team
}

func ExampleRequirement_WithMinValues() {
	r := requirements.Exists("instance-family").WithMinValues(3)
	fmt.Println(r)
	fmt.Println(r.Intersect(requirements.In("instance-family", "c5", "m5")))
	// Output:
	// instance-family minvalues 3
	// instance-family in (c5, m5) minvalues 3
}

func ExampleRequirement_MinValues() {
	fmt.Println(requirements.Exists("zone").WithMinValues(2).MinValues())
	// Output:
	// 2
}

func ExampleRequirement_Has() {
	r := requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "8"))
	fmt.Println(r.Has("6"), r.Has("8"), r.Has("08"))
	// Output:
	// true false true
}

func ExampleRequirement_AllowsAbsent() {
	fmt.Println(requirements.NotIn("gpu", "a").AllowsAbsent())
	fmt.Println(requirements.NotIn("gpu", "a").Intersect(requirements.Exists("gpu")).AllowsAbsent())
	// Output:
	// true
	// false
}

func ExampleRequirement_AllowsPresent() {
	fmt.Println(requirements.NotIn("gpu", "a").AllowsPresent())
	fmt.Println(requirements.DoesNotExist("gpu").AllowsPresent())
	// Output:
	// true
	// false
}

// An empty intersection is not the same as DoesNotExist: no label will do, not
// even none.
func ExampleRequirement_Impossible() {
	r := requirements.In("team", "a").Intersect(requirements.NotIn("team", "a"))
	fmt.Println(r, r.Impossible(), r.AllowsAbsent())
	fmt.Println(requirements.DoesNotExist("team").Impossible())
	// Output:
	// team in () true false
	// false
}

func ExampleRequirement_Values() {
	fmt.Println(requirements.In("zone", "c", "a", "b").Intersect(requirements.NotIn("zone", "b")).Values())
	fmt.Println(requirements.NotIn("zone", "b").Values())
	// Output:
	// [a c] true
	// [] false
}

func ExampleRequirement_Any() {
	fmt.Println(requirements.In("zone", "b", "a").Any())
	fmt.Println(requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "5")).Any())
	fmt.Println(requirements.Exists("team").Any())
	_, ok := requirements.DoesNotExist("team").Any()
	fmt.Println(ok)
	// Output:
	// a true
	// 6 true
	// 0 true
	// false
}

func ExampleRequirement_Intersect() {
	cpu := requirements.Gt("cpu", 4).Intersect(requirements.Lt("cpu", 16))
	fmt.Println(cpu)
	fmt.Println(cpu.Intersect(requirements.NotIn("cpu", "8", "32")))
	fmt.Println(cpu.Intersect(requirements.In("cpu", "4", "8", "16")))
	fmt.Println(cpu.Intersect(requirements.DoesNotExist("cpu")))
	// Output:
	// cpu > 4, cpu < 16
	// cpu > 4, cpu < 16, cpu notin (8)
	// cpu = 8
	// cpu in ()
}

func ExampleRequirement_Overlaps() {
	fmt.Println(requirements.In("zone", "a", "b").Overlaps(requirements.In("zone", "b", "c")))
	fmt.Println(requirements.NotIn("zone", "a").Overlaps(requirements.DoesNotExist("zone")))
	fmt.Println(requirements.Exists("zone").Overlaps(requirements.DoesNotExist("zone")))
	// Output:
	// true
	// true
	// false
}

func ExampleRequirement_Equal() {
	fmt.Println(requirements.Gt("cpu", 3).Equal(requirements.Gte("cpu", 4)))
	fmt.Println(requirements.In("cpu").Equal(requirements.DoesNotExist("cpu")))
	// Output:
	// true
	// false
}

func ExampleRequirement_String() {
	fmt.Println(requirements.In("zone", "a", "b"))
	fmt.Println(requirements.In("note", "needs quotes"))
	fmt.Println(requirements.Exists("gpu").Intersect(requirements.NotIn("gpu", "t4")))
	// Output:
	// zone in (a, b)
	// note = "needs quotes"
	// gpu, gpu notin (t4)
}

// AppendText makes a map key without allocating: the compiler does not copy the
// bytes for a lookup.
func ExampleRequirement_AppendText() {
	ids := map[string]int{"zone = a": 7}
	var buffer []byte
	buffer, _ = requirements.In("zone", "a").AppendText(buffer[:0])
	fmt.Println(ids[string(buffer)])
	// Output:
	// 7
}

func ExampleRequirement_MarshalText() {
	text, err := requirements.In("zone", "a").MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// zone = a <nil>
}

func ExampleRequirement_NodeSelectorRequirements() {
	r := requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "8"))
	for _, e := range r.NodeSelectorRequirements() {
		fmt.Println(e.Key, e.Operator, e.Values)
	}
	for _, e := range requirements.In("team").NodeSelectorRequirements() { // impossible
		fmt.Println(e.Key, e.Operator)
	}
	// Output:
	// cpu Gte [5]
	// cpu NotIn [8]
	// team Exists
	// team DoesNotExist
}
