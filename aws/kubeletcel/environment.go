package kubeletcel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// newEnv is CEL with our variables and functions.
func newEnv() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("instance_type", cel.StringType),
		cel.Variable("vcpus", cel.IntType),
		cel.Variable("memory_mib", cel.IntType),
		cel.Variable("default_enis", cel.IntType),
		cel.Variable("ips_per_eni", cel.IntType),
		cel.Variable("max_pods", cel.IntType),
		choice("max", func(order types.Int) bool { return order > 0 }),
		choice("min", func(order types.Int) bool { return order < 0 }),
	)
}

// choice is a function of two numbers that returns one of them: the first, if it
// stands so to the second. Of an integer and a double the result is a double, as a
// compiler must know its type.
func choice(name string, first func(order types.Int) bool) cel.EnvOption {
	var overloads []cel.FunctionOpt
	for _, a := range []*cel.Type{cel.IntType, cel.DoubleType} {
		for _, b := range []*cel.Type{cel.IntType, cel.DoubleType} {
			result := cel.DoubleType
			if a == cel.IntType && b == cel.IntType {
				result = cel.IntType
			}
			overloads = append(overloads, cel.Overload(name+"_"+a.String()+"_"+b.String(), []*cel.Type{a, b}, result,
				cel.BinaryBinding(func(x, y ref.Val) ref.Val {
					x, y = x.ConvertToType(result), y.ConvertToType(result)
					number, ok := x.(interface{ Compare(ref.Val) ref.Val })
					if !ok {
						return types.MaybeNoSuchOverloadErr(x)
					}
					if order, ok := number.Compare(y).(types.Int); ok && first(order) {
						return x
					}
					return y
				})))
		}
	}
	return cel.Function(name, overloads...)
}
