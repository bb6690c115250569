package guard

import (
	"context"
	"fmt"
	"runtime/debug"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// New returns a CloudProvider in which a call that makes inner panic returns a *PanicError, as if
// the cloud had not answered. The operation may have been carried out.
//
// The abilities of inner are found through the wrapper. Those that call a cloud are guarded as
// well: IsDrifted, Interruptions, Acknowledge, Reboot and NodeClassReady. If inner lacks an
// ability, so does the wrapper.
func New(inner cloudprovider.CloudProvider) cloudprovider.CloudProvider { return provider{inner} }

// PanicError is a panic of a provider as an error. It is of cloudprovider.KindUnknown.
type PanicError struct {
	// Op is the method that was called.
	Op string
	// Value is the value of the panic, and Stack the stack at that moment, as debug.Stack returns
	// it.
	Value any
	Stack []byte
}

// Error names the method and the value. The stack is not in it.
func (p *PanicError) Error() string {
	return fmt.Sprintf("%s: the provider panicked: %v", p.Op, p.Value)
}

// Unwrap returns the value if it is an error, and otherwise nil.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

type provider struct {
	inner cloudprovider.CloudProvider
}

// catch turns a panic into an error. It must be deferred.
func catch(op string, err *error) {
	if value := recover(); value != nil {
		*err = &PanicError{Op: op, Value: value, Stack: debug.Stack()}
	}
}

func (g provider) Unwrap() cloudprovider.CloudProvider { return g.inner }

func (g provider) InstanceTypes(ctx context.Context, pool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	defer catch("InstanceTypes", &err)
	return g.inner.InstanceTypes(ctx, pool)
}

func (g provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (i *cloudprovider.Instance, err error) {
	defer catch("Create", &err)
	return g.inner.Create(ctx, req)
}

func (g provider) Delete(ctx context.Context, id string) (err error) {
	defer catch("Delete", &err)
	return g.inner.Delete(ctx, id)
}

func (g provider) Get(ctx context.Context, id string) (i *cloudprovider.Instance, err error) {
	defer catch("Get", &err)
	return g.inner.Get(ctx, id)
}

func (g provider) List(ctx context.Context) (list []*cloudprovider.Instance, err error) {
	defer catch("List", &err)
	return g.inner.List(ctx)
}

func (g provider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (d cloudprovider.Drift, err error) {
	defer catch("IsDrifted", &err)
	return cloudprovider.IsDrifted(ctx, g.inner, claim)
}

func (g provider) Interruptions(ctx context.Context) (notices []cloudprovider.Interruption, err error) {
	defer catch("Interruptions", &err)
	return cloudprovider.Interruptions(ctx, g.inner)
}

func (g provider) Acknowledge(ctx context.Context, ids ...string) (err error) {
	defer catch("Acknowledge", &err)
	source, ok := cloudprovider.As[cloudprovider.InterruptionAcknowledger](g.inner)
	if !ok {
		return cloudprovider.ErrUnsupported
	}
	return source.Acknowledge(ctx, ids...)
}

func (g provider) Reboot(ctx context.Context, id, operation string) (err error) {
	defer catch("Reboot", &err)
	return cloudprovider.Reboot(ctx, g.inner, id, operation)
}

func (g provider) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) (err error) {
	defer catch("NodeClassReady", &err)
	return cloudprovider.NodeClassReady(ctx, g.inner, ref)
}
