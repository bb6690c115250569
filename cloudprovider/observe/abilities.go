package observe

import (
	"context"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// As is how cloudprovider.As finds the abilities that are observed; callers use
// that. It sets *target to an ability that tells the sink of each call, and
// returns true, if target is a pointer to one of the interfaces in the package
// comment and the inner provider has that ability. It is false otherwise: then
// the ability, if there is one, is found by Unwrap and not observed.
func (p *Provider) As(target any) bool {
	switch t := target.(type) {
	case *cloudprovider.DriftDetector:
		inner, found := cloudprovider.As[cloudprovider.DriftDetector](p.inner)
		if found {
			*t = driftDetector{p, inner}
		}
		return found
	case *cloudprovider.NodeClassChecker:
		inner, found := cloudprovider.As[cloudprovider.NodeClassChecker](p.inner)
		if found {
			*t = nodeClassChecker{p, inner}
		}
		return found
	case *cloudprovider.Rebooter:
		inner, found := cloudprovider.As[cloudprovider.Rebooter](p.inner)
		if found {
			*t = rebooter{p, inner}
		}
		return found
	case *cloudprovider.InterruptionSource:
		inner, found := cloudprovider.As[cloudprovider.InterruptionSource](p.inner)
		if found {
			*t = interruptionSource{p, inner}
		}
		return found
	case *cloudprovider.InterruptionAcknowledger:
		inner, found := cloudprovider.As[cloudprovider.InterruptionAcknowledger](p.inner)
		if found {
			*t = acknowledger{p, inner}
		}
		return found
	}
	return false
}

type driftDetector struct {
	p     *Provider
	inner cloudprovider.DriftDetector
}

func (d driftDetector) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (drift cloudprovider.Drift, err error) {
	c := Call{Op: OpIsDrifted}
	if claim != nil {
		c.Object, c.NodePool = claim.Name, claim.Labels[v1.NodePoolLabelKey]
	}
	d.p.observe(c, func(e *Ended) {
		drift, err = d.inner.IsDrifted(ctx, claim)
		e.Err, e.Drift = err, drift
	})
	return drift, err
}

type nodeClassChecker struct {
	p     *Provider
	inner cloudprovider.NodeClassChecker
}

func (n nodeClassChecker) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) (err error) {
	n.p.observe(Call{Op: OpNodeClassReady, Object: ref.Name}, func(e *Ended) {
		err = n.inner.NodeClassReady(ctx, ref)
		e.Err = err
	})
	return err
}

type rebooter struct {
	p     *Provider
	inner cloudprovider.Rebooter
}

func (r rebooter) Reboot(ctx context.Context, id, operation string) (err error) {
	r.p.observe(Call{Op: OpReboot, Object: id}, func(e *Ended) {
		err = r.inner.Reboot(ctx, id, operation)
		e.Err = err
	})
	return err
}

type interruptionSource struct {
	p     *Provider
	inner cloudprovider.InterruptionSource
}

func (s interruptionSource) Interruptions(ctx context.Context) (notices []cloudprovider.Interruption, err error) {
	s.p.observe(Call{Op: OpInterruptions}, func(e *Ended) {
		notices, err = s.inner.Interruptions(ctx)
		e.Err, e.Count = err, len(notices)
	})
	return notices, err
}

type acknowledger struct {
	p     *Provider
	inner cloudprovider.InterruptionAcknowledger
}

func (a acknowledger) Acknowledge(ctx context.Context, ids ...string) (err error) {
	a.p.observe(Call{Op: OpAcknowledge}, func(e *Ended) {
		err = a.inner.Acknowledge(ctx, ids...)
		e.Err, e.Count = err, len(ids)
	})
	return err
}
