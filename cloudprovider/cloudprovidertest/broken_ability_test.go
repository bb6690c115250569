package cloudprovidertest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func brokenCalls() []broken {
	return []broken{
		{"call/cancelled", "a cache knows no context", func(t *twist) {
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				return t.Cloud.InstanceTypes(context.WithoutCancel(ctx), pool)
			}
		}},
		{"call/cancelled", "loses the cause", func(t *twist) {
			t.list = func(ctx context.Context) ([]*cloudprovider.Instance, error) {
				list, err := t.Cloud.List(ctx)
				if ctx.Err() != nil {
					return nil, unknown(err)
				}
				return list, err
			}
		}},
		{"call/hanging", "waits for the cloud", func(t *twist) { t.heedless = true }},
		{"call/behind", "a lock around the call", func(t *twist) { t.locked = true }},
		{"call/concurrent", "one at a time", func(t *twist) {
			var busy atomic.Bool
			collision := make(chan struct{})
			var once sync.Once
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if !strings.Contains(req.Token, "call-concurrent") {
					return t.Cloud.Create(ctx, req)
				}
				if !busy.CompareAndSwap(false, true) {
					once.Do(func() { close(collision) })
					return nil, errorText("busy")
				}
				defer busy.Store(false)
				<-collision // takes as long as it takes for another to come
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"call/kept", "marks what it handed out", func(t *twist) {
			var mu sync.Mutex
			var shared []*cloudprovider.InstanceType
			var made time.Time
			t.types = func(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				types, err := t.Cloud.InstanceTypes(ctx, pool)
				if err != nil {
					return nil, err
				}
				mu.Lock()
				defer mu.Unlock()
				if shared == nil || t.Now().Sub(made) > 10*time.Minute {
					for i := range types {
						types[i] = types[i].Clone()
					}
					shared, made = types, t.Now()
				}
				return slices.Clone(shared), nil
			}
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Create(ctx, req)
				var e *cloudprovider.Error
				mu.Lock()
				defer mu.Unlock()
				if errors.As(err, &e) && len(e.Offerings) > 0 {
					for _, i := range shared {
						if o, found := i.Offering(e.Offerings[0]); found {
							o.Available = false
						}
					}
				}
				return instance, err
			}
		}},
		{"call/kept", "going down in place", func(t *twist) {
			var mu sync.Mutex
			kept := map[string]*cloudprovider.Instance{}
			recreate(func(i *cloudprovider.Instance) {
				mu.Lock()
				defer mu.Unlock()
				kept[i.ID] = i
			})(t)
			t.deleted = func(ctx context.Context, id string) error {
				err := t.Cloud.Delete(ctx, id)
				mu.Lock()
				defer mu.Unlock()
				if i := kept[id]; i != nil && err == nil {
					i.Deleting = true
				}
				return err
			}
		}},
		{"call/constant", "a name with a number", func(t *twist) {
			var n atomic.Int64
			t.name = func() string { return fmt.Sprintf("fake-%d", n.Add(1)) }
		}},
		{"call/constant", "no name", func(t *twist) { t.name = func() string { return "" } }},
	}
}

// redrift has IsDrifted change its answer.
func redrift(change func(cloudprovider.Drift, error) (cloudprovider.Drift, error)) func(*twist) {
	return func(t *twist) {
		t.drifted = func(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
			return change(t.Cloud.IsDrifted(ctx, claim))
		}
	}
}

func brokenHealth() []broken {
	return []broken{
		{"drift/none", "what cannot be known is drift", redrift(func(drift cloudprovider.Drift, err error) (cloudprovider.Drift, error) {
			if err == nil && drift.Reason == "" {
				drift = cloudprovider.Drift{Reason: hashDrift, Detail: "no hash"}
			}
			return drift, err
		})},
		{"drift/none", "writes down that it looked", func(t *twist) {
			t.drifted = func(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
				claim.Annotations["checked"] = "yes"
				return t.Cloud.IsDrifted(ctx, claim)
			}
		}},
		{"drift/none", "knows only what it launched", func(t *twist) {
			mine := remembered(t)
			t.drifted = func(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
				drift, err := t.Cloud.IsDrifted(ctx, claim)
				if !mine(claim.Status.ProviderID) && err == nil && drift == (cloudprovider.Drift{}) {
					drift = cloudprovider.Drift{Reason: hashDrift, Detail: "was launched from another node class"}
				}
				return drift, err
			}
		}},
		{"drift/seen", "remembers the image in memory", func(t *twist) {
			mine := remembered(t)
			t.drifted = func(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
				drift, err := t.Cloud.IsDrifted(ctx, claim)
				if !mine(claim.Status.ProviderID) {
					drift = cloudprovider.Drift{}
				}
				return drift, err
			}
		}},
		{"drift/seen", "says it in two lines", redrift(func(drift cloudprovider.Drift, err error) (cloudprovider.Drift, error) {
			if drift.Reason != "" {
				drift.Detail += "\nsee above"
			}
			return drift, err
		})},
		{"drift/seen", "never looks", redrift(func(_ cloudprovider.Drift, err error) (cloudprovider.Drift, error) {
			return cloudprovider.Drift{}, err
		})},
		{"drift/gone", "what is gone has not drifted", redrift(func(drift cloudprovider.Drift, err error) (cloudprovider.Drift, error) {
			if errors.Is(err, cloudprovider.ErrNotFound) {
				return cloudprovider.Drift{}, nil
			}
			return drift, err
		})},
		{"repair/valid", "no fallback", func(t *twist) {
			t.policies = func() []cloudprovider.RepairPolicy { return t.Cloud.RepairPolicies()[1:] }
		}},
		{"repair/reboot", "restarts that it cannot do", func(t *twist) { t.withoutReboot = true }},
		{"reboot/once", "restarts each time", func(t *twist) {
			var n atomic.Int64
			t.reboot = func(ctx context.Context, id, operation string) error {
				return t.Cloud.Reboot(ctx, id, fmt.Sprint(operation, n.Add(1)))
			}
		}},
		{"reboot/gone", "what is gone needs no restart", func(t *twist) {
			t.reboot = func(ctx context.Context, id, operation string) error {
				err := t.Cloud.Reboot(ctx, id, operation)
				if errors.Is(err, cloudprovider.ErrNotFound) {
					return nil
				}
				return err
			}
		}},
	}
}

// hashDrift is a reason of drift.
const hashDrift = "HashDrift"

func brokenNotices() []broken {
	type notices = []cloudprovider.Interruption
	renotice := func(change func(notices)) func(*twist) {
		return func(t *twist) {
			t.interrupted = func(ctx context.Context) (notices, error) {
				all, err := t.Cloud.Interruptions(ctx)
				change(all)
				return all, err
			}
		}
	}
	return []broken{
		{"notice/delivered", "all notices are alike", renotice(func(all notices) {
			for i := range all {
				all[i].Kind = cloudprovider.InterruptionSpot
			}
		})},
		{"notice/ours", "all of the account", func(t *twist) {
			t.interrupted = func(ctx context.Context) (notices, error) {
				all, err := t.Cloud.Interruptions(ctx)
				if err != nil {
					return nil, err
				}
				theirs, err := t.neighbor.Interruptions(ctx)
				all = append(all, theirs...)
				slices.SortFunc(all, func(a, b cloudprovider.Interruption) int {
					return cmp.Or(a.At.Compare(b.At), strings.Compare(a.InstanceID, b.InstanceID))
				})
				return all, err
			}
		}},
		{"notice/kept", "drops what was read", func(t *twist) {
			t.interrupted = func(ctx context.Context) (notices, error) {
				all, err := t.Cloud.Interruptions(ctx)
				for _, n := range all {
					_ = t.Cloud.Acknowledge(ctx, n.ID)
				}
				return all, err
			}
		}},
		{"notice/sorted", "the latest first", renotice(slices.Reverse[notices])},
		{"notice/acknowledged", "does not know that ID", func(t *twist) {
			t.acknowledged = func(ctx context.Context, ids ...string) error {
				if slices.Contains(ids, "no-such-notice") {
					return cloudprovider.ErrNotFound
				}
				return t.Cloud.Acknowledge(ctx, ids...)
			}
		}},
		{"notice/acknowledged", "keeps them all", func(t *twist) {
			t.acknowledged = func(context.Context, ...string) error { return nil }
		}},
	}
}
