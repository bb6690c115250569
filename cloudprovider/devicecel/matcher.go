package devicecel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// maxKept is how many compiled expressions a Matcher keeps. A cluster has a
// handful of DeviceClasses, and claims come from a few templates.
const maxKept = 1024

// Matcher is a cloudprovider.DeviceMatcher for CEL selectors. Create it with New and reuse it,
// because it caches compiled expressions. The zero value must not be used.
type Matcher struct {
	// compile uses the compiler that New made, independent of features that other users of the
	// library enable.
	compile func(expression string) cel.CompilationResult

	mu   sync.Mutex
	kept map[string]*compiled
}

var _ cloudprovider.DeviceMatcher = (*Matcher)(nil)

// compiled is an expression that is compiled on first use.
type compiled struct {
	once   sync.Once
	result cel.CompilationResult
}

// New returns a Matcher with all features of expressions in the newest release of Kubernetes that
// it was built with: list attributes, and whether a device can be allocated several times.
func New() *Matcher {
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	return &Matcher{
		kept: map[string]*compiled{},
		compile: func(expression string) cel.CompilationResult {
			return compiler.CompileCELExpression(expression, cel.Options{DisableCostEstimation: true})
		},
	}
}

// Matches reports whether a device of a driver satisfies a selector, as cloudprovider.DeviceMatcher
// says. The name and the taints of the device are ignored.
//
// The error names the expression. Reasons are: the selector is not a CEL expression, it is longer
// than Kubernetes allows, does not compile or is not boolean; it reads an attribute that the device
// does not have; it costs more to evaluate than Kubernetes allows; or the device has an attribute
// that cannot be read. A nil device is an error.
func (m *Matcher) Matches(selector resourcev1.DeviceSelector, driver string, device *resourcev1.Device) (bool, error) {
	switch {
	case selector.CEL == nil:
		return false, errors.New("the selector is no CEL expression, and this matcher knows no others")
	case len(selector.CEL.Expression) > resourcev1.CELSelectorExpressionMaxLength:
		return false, fmt.Errorf("CEL expression %q... has %d bytes, and Kubernetes allows no more than %d",
			selector.CEL.Expression[:40], len(selector.CEL.Expression), resourcev1.CELSelectorExpressionMaxLength)
	case device == nil:
		return false, fmt.Errorf("CEL expression %q: there is no device to evaluate it for", selector.CEL.Expression)
	}
	result := m.compiled(selector.CEL.Expression)
	if result.Error != nil {
		return false, fmt.Errorf("CEL expression %q: %s", selector.CEL.Expression, result.Error.Detail)
	}
	ok, _, err := result.DeviceMatches(context.Background(), cel.Device{
		Driver:                   driver,
		AllowMultipleAllocations: device.AllowMultipleAllocations,
		Attributes:               device.Attributes,
		Capacity:                 device.Capacity,
	})
	if err != nil {
		return false, fmt.Errorf("CEL expression %q: %w", selector.CEL.Expression, err)
	}
	return ok, nil
}

// compiled returns an expression compiled. Several goroutines may ask for the
// same; one compiles and the others wait.
func (m *Matcher) compiled(expression string) *cel.CompilationResult {
	m.mu.Lock()
	c := m.kept[expression]
	if c == nil {
		if len(m.kept) >= maxKept {
			// Clearing everything is simpler than tracking use, and as rare.
			clear(m.kept)
		}
		c = &compiled{}
		m.kept[expression] = c
	}
	m.mu.Unlock()
	c.once.Do(func() { c.result = m.compile(expression) })
	return &c.result
}
