package cloudprovidertest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// reget has Get return a copy of the instance with a change.
func reget(change func(*cloudprovider.Instance)) func(*twist) {
	return func(t *twist) {
		t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
			instance, err := t.Cloud.Get(ctx, id)
			return changed(instance, err, change)
		}
	}
}

// relist is List with copies that have a change.
func relist(t *twist, change func(*cloudprovider.Instance)) func(context.Context) ([]*cloudprovider.Instance, error) {
	return func(ctx context.Context) ([]*cloudprovider.Instance, error) {
		list, err := t.Cloud.List(ctx)
		for i := range list {
			list[i], _ = changed(list[i], nil, change)
		}
		return list, err
	}
}

// relisted has List change its list.
func relisted(change func(context.Context, *twist, []*cloudprovider.Instance) []*cloudprovider.Instance) func(*twist) {
	return func(t *twist) {
		t.list = func(ctx context.Context) ([]*cloudprovider.Instance, error) {
			list, err := t.Cloud.List(ctx)
			if err != nil {
				return nil, err
			}
			return change(ctx, t, list), nil
		}
	}
}

func brokenInstances() []broken {
	return []broken{
		{"get/created", "forgets the name", reget(func(i *cloudprovider.Instance) {
			if strings.Contains(i.Name, "get-created") {
				i.Name = ""
			}
		})},
		{"get/created", "forgets when", reget(func(i *cloudprovider.Instance) {
			if strings.Contains(i.Name, "get-created") {
				i.CreatedAt = time.Time{}
			}
		})},
		{"get/created", "in local time", reget(func(i *cloudprovider.Instance) {
			if strings.Contains(i.Name, "get-created") {
				i.CreatedAt = i.CreatedAt.Add(-time.Hour)
			}
		})},
		{"get/unknown", "cannot parse it", func(t *twist) {
			t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
				if ctx.Err() == nil && !strings.HasPrefix(id, "fake:///") {
					return nil, &cloudprovider.Error{Op: "Get", Kind: cloudprovider.KindDenied, Err: errorText("malformed ID")}
				}
				return t.Cloud.Get(ctx, id)
			}
		}},
		{"delete/unknown", "what is not there needs no deleting", func(t *twist) {
			t.deleted = func(ctx context.Context, id string) error {
				err := t.Cloud.Delete(ctx, id)
				if errors.Is(err, cloudprovider.ErrNotFound) && !strings.Contains(err.Error(), "it was deleted") && !t.foreign(id) {
					return nil
				}
				return err
			}
		}},
		{"delete/complete", "going down looks like running", reget(func(i *cloudprovider.Instance) {
			i.Deleting = i.Deleting && !strings.Contains(i.Name, "delete-complete")
		})},
		{"delete/complete", "Get answers from a cache", func(t *twist) {
			type answer struct {
				instance *cloudprovider.Instance
				at       time.Time
			}
			var running sync.Map
			t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
				if old, found := running.Load(id); found && ctx.Err() == nil && t.Now().Sub(old.(answer).at) < 300*time.Millisecond {
					return old.(answer).instance, nil
				}
				instance, err := t.Cloud.Get(ctx, id)
				if err == nil && !instance.Deleting {
					running.Store(id, answer{instance, t.Now()})
				}
				return instance, err
			}
		}},
		{"delete/complete", "denied while it goes down", func(t *twist) {
			t.deleted = func(ctx context.Context, id string) error {
				if i, err := t.Cloud.Get(ctx, id); err == nil && i.Deleting {
					return cloudprovider.ErrDenied
				}
				return t.Cloud.Delete(ctx, id)
			}
		}},
		{"delete/others", "deletes what was made last", func(t *twist) {
			t.deleted = func(ctx context.Context, id string) error {
				list, _ := t.Cloud.List(ctx)
				if len(list) == 2 && strings.Contains(list[0].Name, "delete-others") {
					for _, i := range list {
						_ = t.Cloud.Delete(ctx, i.ID)
					}
				}
				return t.Cloud.Delete(ctx, id)
			}
		}},
		{"get/terminated", "answers from a cache", func(t *twist) {
			var mu sync.Mutex
			cache := map[string]*cloudprovider.Instance{}
			t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Create(ctx, req)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					cache[instance.ID] = instance
				}
				return instance, err
			}
			t.deleted = func(ctx context.Context, id string) error {
				mu.Lock()
				defer mu.Unlock()
				delete(cache, id)
				return t.Cloud.Delete(ctx, id)
			}
			t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
				mu.Lock()
				defer mu.Unlock()
				if i := cache[id]; i != nil && ctx.Err() == nil {
					return i, nil
				}
				return t.Cloud.Get(ctx, id)
			}
		}},
		{"get/failed", "every failure means not found", func(t *twist) {
			t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Get(ctx, id)
				if err != nil && ctx.Err() == nil && !errors.Is(err, cloudprovider.ErrThrottled) {
					return nil, cloudprovider.ErrNotFound
				}
				return instance, err
			}
		}},
	}
}

func brokenLists() []broken {
	type list = []*cloudprovider.Instance
	return []broken{
		{"list/complete", "the first page only", relisted(func(_ context.Context, _ *twist, l list) list {
			if len(l) > 2 && strings.Contains(l[0].Name, "list-complete") {
				l = l[:2]
			}
			return l
		})},
		{"list/complete", "forgets the capacity type", func(t *twist) {
			t.list = relist(t, func(i *cloudprovider.Instance) { i.CapacityType = "" })
		}},
		{"list/complete", "as if all were new", func(t *twist) {
			t.list = relist(t, func(i *cloudprovider.Instance) { i.CreatedAt = t.Cloud.Now() })
		}},
		{"list/sorted", "from the last", relisted(func(_ context.Context, _ *twist, l list) list {
			slices.Reverse(l)
			return l
		})},
		{"list/restart", "those of this process", func(t *twist) {
			mine := remembered(t)
			t.list = func(ctx context.Context) (list, error) {
				l, err := t.Cloud.List(ctx)
				return slices.DeleteFunc(l, func(i *cloudprovider.Instance) bool { return !mine(i.ID) }), err
			}
		}},
		{"list/restart", "labels are in memory", func(t *twist) {
			mine := remembered(t)
			t.get = func(ctx context.Context, id string) (*cloudprovider.Instance, error) {
				instance, err := t.Cloud.Get(ctx, id)
				return changed(instance, err, func(i *cloudprovider.Instance) {
					if !mine(id) {
						i.Labels = nil
					}
				})
			}
		}},
		{"list/ours", "all of the account", relisted(func(ctx context.Context, t *twist, l list) list {
			others, _ := t.neighbor.List(ctx)
			l = append(l, others...)
			slices.SortFunc(l, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
			return l
		})},
		{"list/ours", "deletes whatever it is told to", func(t *twist) {
			t.deleted = func(ctx context.Context, id string) error {
				err := t.Cloud.Delete(ctx, id)
				if errors.Is(err, cloudprovider.ErrNotFound) && t.foreign(id) {
					return t.neighbor.Delete(ctx, id)
				}
				return err
			}
		}},
		{"list/deleting", "the running ones", relisted(func(_ context.Context, _ *twist, l list) list {
			return slices.DeleteFunc(l, func(i *cloudprovider.Instance) bool { return i.Deleting })
		})},
		{"list/deleting", "as if it ran", func(t *twist) {
			t.list = relist(t, func(i *cloudprovider.Instance) { i.Deleting = false })
		}},
		{"list/gone", "keeps what was", func(t *twist) {
			var mu sync.Mutex
			seen := map[string]*cloudprovider.Instance{}
			relisted(func(_ context.Context, _ *twist, l list) list {
				mu.Lock()
				defer mu.Unlock()
				for _, i := range l {
					seen[i.ID] = i
				}
				l = nil
				for _, i := range seen {
					l = append(l, i)
				}
				slices.SortFunc(l, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
				return l
			})(t)
		}},
		{"list/failed", "nothing to begin with", func(t *twist) {
			var mu sync.Mutex
			began := false
			t.list = func(ctx context.Context) (list, error) {
				l, err := t.Cloud.List(ctx)
				mu.Lock()
				defer mu.Unlock()
				if err != nil && ctx.Err() == nil && !began {
					return nil, nil
				}
				began = began || err == nil
				return l, err
			}
		}},
		{"list/failed", "what there was before it failed", func(t *twist) {
			t.list = func(ctx context.Context) (list, error) {
				l, err := t.Cloud.List(ctx)
				if err != nil && ctx.Err() == nil {
					return nil, nil
				}
				return l, err
			}
		}},
	}
}
