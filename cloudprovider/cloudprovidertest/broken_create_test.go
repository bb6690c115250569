package cloudprovidertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// recreate has Create return a copy of the instance with a change.
func recreate(change func(*cloudprovider.Instance)) func(*twist) {
	return func(t *twist) {
		t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
			instance, err := t.Cloud.Create(ctx, req)
			return changed(instance, err, change)
		}
	}
}

// request has Create change a copy of the request first.
func request(change func(*twist, *cloudprovider.LaunchRequest)) func(*twist) {
	return func(t *twist) {
		t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
			change(t, &req)
			return t.Cloud.Create(ctx, req)
		}
	}
}

// refuse has Create change its errors.
func refuse(change func(*cloudprovider.LaunchRequest, error) error) func(*twist) {
	return func(t *twist) {
		t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
			instance, err := t.Cloud.Create(ctx, req)
			if err != nil {
				return nil, change(&req, err)
			}
			return instance, nil
		}
	}
}

func brokenCreates() []broken {
	return []broken{
		{"create/option", "something cheaper than what was asked for", request(func(t *twist, req *cloudprovider.LaunchRequest) {
			types, _ := catalog()
			if len(req.Options) != 1 || req.Options[0].InstanceType == nil || req.Options[0].Offering == nil ||
				!slices.ContainsFunc(types, func(i *cloudprovider.InstanceType) bool { return i.Name == req.Options[0].InstanceType.Name }) {
				return
			}
			req.Options = launch.Compatible(types, req.Requirements)[:1]
		})},
		{"create/option", "forgets the ID of the offering", func(t *twist) {
			recreate(func(i *cloudprovider.Instance) { i.OfferingID = "" })(t)
			reget(func(i *cloudprovider.Instance) { i.OfferingID = "" })(t)
			t.list = relist(t, func(i *cloudprovider.Instance) { i.OfferingID = "" })
		}},
		{"create/identity", "does not say when", recreate(func(i *cloudprovider.Instance) { i.CreatedAt = time.Time{} })},
		{"create/labels", "no zone", recreate(func(i *cloudprovider.Instance) {
			i.Labels = maps.Clone(i.Labels)
			delete(i.Labels, corev1.LabelTopologyZone)
		})},
		{"create/labels", "none from Get", reget(func(i *cloudprovider.Instance) {
			if strings.Contains(i.Name, "create-labels") {
				i.Labels = nil
			}
		})},
		{"create/capacity", "leaves it to the kubelet", recreate(func(i *cloudprovider.Instance) { i.Allocatable = resources.List{} })},
		{"create/capacity", "nothing is kept from pods", recreate(func(i *cloudprovider.Instance) { i.Allocatable = i.Capacity })},
		{"create/capacity", "Get does not know it", reget(func(i *cloudprovider.Instance) {
			i.Capacity, i.Allocatable = resources.List{}, resources.List{}
		})},
		{"create/capacity", "no price", recreate(func(i *cloudprovider.Instance) { i.Price = 0 })},
		{"create/capacity", "Get knows no price", reget(func(i *cloudprovider.Instance) { i.Price = 0 })},
		{"create/capacity", "a price in cents", recreate(func(i *cloudprovider.Instance) { i.Price *= 100 })},
		{"create/capacity", "a price for a month", reget(func(i *cloudprovider.Instance) { i.Price *= 730 })},
		{"create/invalid", "makes up a token", request(func(_ *twist, req *cloudprovider.LaunchRequest) {
			if req.Token == "" {
				req.Token = "made up for " + req.Name
			}
		})},
		{"create/unknown", "a default in place of what is unknown", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Create(ctx, req)
				if len(req.Options) == 1 && cloudprovider.KindOf(err) == cloudprovider.KindDenied && req.Validate() == nil {
					types, _ := catalog()
					req.Options = launch.Compatible(types, req.Requirements)
					return t.Cloud.Create(ctx, req)
				}
				return instance, err
			}
		}},
		{"create/read-only", "sorts the options in place", request(func(_ *twist, req *cloudprovider.LaunchRequest) {
			if req.Validate() == nil {
				slices.SortFunc(req.Options, cloudprovider.LaunchOption.Compare)
			}
		})},
		{"stock/all", "names the first only", refuse(func(_ *cloudprovider.LaunchRequest, err error) error {
			var e *cloudprovider.Error
			if errors.As(err, &e) && len(e.Offerings) > 1 {
				short := *e
				short.Offerings = e.Offerings[:1]
				return &short
			}
			return err
		})},
		{"stock/all", "a zone for some of its types", refuse(func(req *cloudprovider.LaunchRequest, err error) error {
			var e *cloudprovider.Error
			if !errors.As(err, &e) || e.Kind != cloudprovider.KindInsufficientCapacity {
				return err
			}
			wide := *e
			if len(e.Offerings) == len(req.Options) {
				for _, key := range e.Offerings {
					wide.Scopes = append(wide.Scopes, cloudprovider.Scope{Zone: key.Zone, CapacityType: key.CapacityType})
				}
			}
			return &wide
		})},
		{"create/failed", "a failure is a shortage", fails(cloudprovider.KindInsufficientCapacity)},
		{"create/failed", "a failure is for good", fails(cloudprovider.KindDenied)},
		{"create/failed", "a failure is nothing found", fails(cloudprovider.KindNotFound)},
		{"stock/all", "out of stock is just a failure", refuse(func(_ *cloudprovider.LaunchRequest, err error) error {
			if errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
				return unknown(err)
			}
			return err
		})},
		{"stock/all", "another type when all are sold out", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Create(ctx, req)
				if errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
					types, _ := catalog()
					req.Token += "#again"
					req.Options = slices.DeleteFunc(launch.Compatible(types, req.Requirements), func(o cloudprovider.LaunchOption) bool {
						return o.Offering.CapacityType != req.Options[0].Offering.CapacityType
					})
					return t.Cloud.Create(ctx, req)
				}
				return instance, err
			}
		}},
		{"stock/some", "names all it was asked for", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if req.Validate() != nil {
					return t.Cloud.Create(ctx, req)
				}
				one := req
				one.Options = req.Options[:1]
				instance, err := t.Cloud.Create(ctx, one)
				var e *cloudprovider.Error
				if errors.As(err, &e) && e.Kind == cloudprovider.KindInsufficientCapacity {
					all := *e
					all.Offerings = nil
					for _, o := range req.Options {
						all.Offerings = append(all.Offerings, o.Key())
					}
					return nil, &all
				}
				return instance, err
			}
		}},
		{"call/throttled", "takes throttling for a shortage", refuse(func(req *cloudprovider.LaunchRequest, err error) error {
			if !errors.Is(err, cloudprovider.ErrThrottled) {
				return err
			}
			e := &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity}
			for _, o := range req.Options {
				e.Offerings = append(e.Offerings, o.Key())
			}
			return e
		})},
	}
}

// lostAnswer says whether the fake lost an answer.
func lostAnswer(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the answer was lost")
}

// fails has Create report a failure of the cloud, but not a lost answer, as of another kind.
func fails(kind cloudprovider.Kind) func(*twist) {
	return refuse(func(req *cloudprovider.LaunchRequest, err error) error {
		if cloudprovider.KindOf(err) != cloudprovider.KindUnknown || lostAnswer(err) || errors.Is(err, context.Canceled) {
			return err
		}
		return &cloudprovider.Error{Op: "Create", Object: req.Name, Kind: kind, Err: errorText(err.Error())}
	})
}

func brokenTokens() []broken {
	return []broken{
		{"token/options", "holds back calls that ask for the same only", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if strings.Contains(req.Token, "token-options") {
					req.Token += req.Options[0].Key().String()
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"token/lost", "gives up on a token after two failures", func(t *twist) {
			var mu sync.Mutex
			failed := map[string]int{}
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				mu.Lock()
				defer mu.Unlock()
				token := req.Token
				if failed[token] > 1 {
					req.Token += "#again"
				}
				instance, err := t.Cloud.Create(ctx, req)
				if lostAnswer(err) {
					failed[token]++
				}
				return instance, err
			}
		}},
		{"token/repeated", "takes another request for another machine", func(t *twist) {
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if req.Token != "" && len(req.Options) > 0 {
					req.Token += fmt.Sprint(len(req.Options))
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"token/concurrent", "looks first and launches then", func(t *twist) {
			var mu sync.Mutex
			seen, waiting, both := map[string]bool{}, 0, make(chan struct{})
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if !strings.Contains(req.Token, "token-concurrent") {
					return t.Cloud.Create(ctx, req)
				}
				mu.Lock()
				used := seen[req.Token]
				waiting++
				turn := waiting
				if turn == 2 {
					close(both)
				}
				mu.Unlock()
				<-both // the first is still on its way when the second comes
				if !used && turn <= 2 {
					mu.Lock()
					seen[req.Token] = true
					mu.Unlock()
					req.Token += fmt.Sprint("#", turn)
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"token/restart", "keeps tokens in memory", func(t *twist) {
			process := t.begin()
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				if req.Token != "" {
					req.Token += "#" + process
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"token/lost", "a new token for each attempt", func(t *twist) {
			failed := map[string]bool{}
			var mu sync.Mutex
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				mu.Lock()
				again, token := failed[req.Token], req.Token
				mu.Unlock()
				if again {
					req.Token += "#2"
				}
				instance, err := t.Cloud.Create(ctx, req)
				if err != nil && cloudprovider.KindOf(err) == cloudprovider.KindUnknown {
					mu.Lock()
					failed[token] = true
					mu.Unlock()
				}
				return instance, err
			}
		}},
		{"token/distinct", "tokens of at most 48 characters", request(func(_ *twist, req *cloudprovider.LaunchRequest) {
			req.Token = req.Token[:min(len(req.Token), 48)]
		})},
		{"token/distinct", "one machine for each name", func(t *twist) {
			var mu sync.Mutex
			byName := map[string]string{}
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				mu.Lock()
				defer mu.Unlock()
				if token, found := byName[req.Name]; found && req.Token != "" {
					req.Token = token
				} else if req.Validate() == nil {
					byName[req.Name] = req.Token
				}
				return t.Cloud.Create(ctx, req)
			}
		}},
		{"token/deleted", "the instance that is gone", func(t *twist) {
			var mu sync.Mutex
			byToken := map[string]*cloudprovider.Instance{}
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Create(ctx, req)
				mu.Lock()
				defer mu.Unlock()
				if old := byToken[req.Token]; old != nil && errors.Is(err, cloudprovider.ErrNotFound) {
					return old, nil
				}
				if err == nil {
					byToken[req.Token] = instance
				}
				return instance, err
			}
		}},
	}
}
