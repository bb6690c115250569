package kubeletcel

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

const (
	// maxKept is how many compiled expressions an Evaluator keeps. A cluster has a
	// handful of classes with at most nine expressions each.
	maxKept = 1024
	// maxLength is how many bytes an expression may have.
	maxLength = 10_000
	// maxCost is the largest cost of evaluating an expression, in steps of the interpreter. Sums
	// and comparisons cost a few steps.
	maxCost = 100_000
)

// Evaluator is an awsv1.ExpressionEvaluator for CEL. Make one with New and keep it:
// it gets faster with use. The zero value must not be used.
type Evaluator struct {
	env *cel.Env
	err error // why there is no env

	mu   sync.Mutex
	kept map[string]compiled
}

var _ awsv1.ExpressionEvaluator = (*Evaluator)(nil)

// compiled is an expression, or what is wrong with it.
type compiled struct {
	program cel.Program
	err     error
}

// New returns an Evaluator.
func New() *Evaluator {
	env, err := newEnv()
	return &Evaluator{env: env, err: err, kept: map[string]compiled{}}
}

// Check returns nil if the text is an expression over the variables that gives an
// integer or a double. The error says what is wrong, with the place in the text.
func (e *Evaluator) Check(expression string) error {
	return e.compiled(expression).err
}

// Evaluate returns the number that the expression gives for an instance type; a double loses its
// fraction. Reasons for an error are those of Check, a division by zero, a number beyond 64 bits, a
// result that is not a number, and an expression that costs too much to evaluate.
func (e *Evaluator) Evaluate(expression string, variables awsv1.ExpressionVariables) (int64, error) {
	c := e.compiled(expression)
	if c.err != nil {
		return 0, c.err
	}
	out, _, err := c.program.Eval(map[string]any{
		"instance_type": variables.InstanceType,
		"vcpus":         variables.VCPUs,
		"memory_mib":    variables.MemoryMiB,
		"default_enis":  variables.DefaultENIs,
		"ips_per_eni":   variables.IPsPerENI,
		"max_pods":      variables.MaxPods,
	})
	if err != nil {
		return 0, err
	}
	switch n := out.Value().(type) {
	case int64:
		return n, nil
	case float64:
		if math.IsNaN(n) || n < math.MinInt64 || n >= math.MaxInt64 {
			return 0, fmt.Errorf("it is %v; make it a number within 64 bits", n)
		}
		return int64(n), nil
	}
	return 0, fmt.Errorf("it is of type %s; make it an int or a double", out.Type().TypeName())
}

// compiled returns an expression, compiled now or before.
func (e *Evaluator) compiled(expression string) compiled {
	e.mu.Lock()
	c, found := e.kept[expression]
	e.mu.Unlock()
	if found {
		return c
	}
	c.program, c.err = e.compile(expression)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.kept) >= maxKept {
		clear(e.kept)
	}
	e.kept[expression] = c
	return c
}

func (e *Evaluator) compile(expression string) (cel.Program, error) {
	if e.err != nil {
		return nil, e.err
	}
	if strings.TrimSpace(expression) == "" {
		return nil, errors.New("it is empty; write a number or an expression")
	}
	if len(expression) > maxLength {
		return nil, fmt.Errorf("it has %d bytes; use at most %d", len(expression), maxLength)
	}
	ast, issues := e.env.Compile(expression)
	if err := issues.Err(); err != nil {
		var faults []string
		for _, fault := range issues.Errors() {
			faults = append(faults, fmt.Sprintf("line %d, column %d: %s", fault.Location.Line(), max(fault.Location.Column()+1, 1), fault.Message))
		}
		return nil, errors.New(strings.Join(faults, "; "))
	}
	if t := ast.OutputType(); t != cel.IntType && t != cel.DoubleType {
		return nil, fmt.Errorf("it is of type %s; make it an int or a double", t)
	}
	return e.env.Program(ast, cel.CostLimit(maxCost))
}

// newEnv returns a CEL environment with our variables and functions.
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

// choice returns a function of two numbers that returns one of them: the first if first says so for
// their order, else the second. For an integer and a double the result is a double, because a
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
