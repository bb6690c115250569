package launchtemplate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Store keeps the launch templates of a cluster. Create it with NewStore.
type Store struct {
	client  api.EC2
	cluster string
	now     func() time.Time
	keep    time.Duration

	mu    sync.Mutex
	known map[string]*entry // by name
	made  map[string]bool   // by this process, by name
}

// entry is the known state of one template.
type entry struct {
	making  chan struct{} // not nil while a call for it is under way
	exists  bool
	checked time.Time // when it was last seen in EC2 or made
	used    time.Time // when it was last used
	inUse   int
}

// NewStore returns a Store for a cluster. keep is how long a template is kept
// after it was last used.
func NewStore(client api.EC2, cluster string, now func() time.Time, keep time.Duration) *Store {
	return &Store{client: client, cluster: cluster, now: now, keep: keep, known: map[string]*entry{}, made: map[string]bool{}}
}

// Use makes sure that the template is there, and keeps it there until done is called. It asks EC2
// only if the template was not seen for as long as templates are kept. Calls for one template wait
// for each other.
func (s *Store) Use(ctx context.Context, t Template) (done func(), err error) {
	for {
		s.mu.Lock()
		e := s.known[t.Name]
		if e == nil {
			e = &entry{}
			s.known[t.Name] = e
		}
		if e.making == nil {
			now := s.now()
			e.inUse++
			e.used = now
			if e.exists && now.Sub(e.checked) < s.keep {
				s.mu.Unlock()
				return s.done(e), nil
			}
			e.making = make(chan struct{})
			s.mu.Unlock()
			err := s.ensure(ctx, t)
			s.mu.Lock()
			close(e.making)
			e.making, e.exists = nil, err == nil
			if err != nil {
				e.inUse--
			} else {
				e.checked = s.now()
			}
			s.mu.Unlock()
			if err != nil {
				return nil, err
			}
			return s.done(e), nil
		}
		wait := e.making
		s.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, api.Wrap("Create", "launch template "+t.Name, context.Cause(ctx))
		}
	}
}

func (s *Store) done(e *entry) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.inUse--
		e.used = s.now()
	})
}

// listed reports whether EC2 lists a template.
func (s *Store) listed(ctx context.Context, name string) (bool, error) {
	out, err := s.client.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
	if err != nil && !api.NotFound(err) {
		return false, api.Wrap("DescribeLaunchTemplates", name, err)
	}
	return err == nil && out != nil && len(out.LaunchTemplates) > 0, nil
}

// ensure asks for the template and makes it if it does not exist. A template of a turn must be
// listed before it is used, so that the next process finds it.
func (s *Store) ensure(ctx context.Context, t Template) error {
	if there, err := s.listed(ctx, t.Name); there || err != nil {
		return err
	}
	if err := s.make(ctx, t); err != nil || t.Tags[TurnKey] == "" {
		return err
	}
	there, err := s.listed(ctx, t.Name)
	if err == nil && !there {
		err = &cloudprovider.Error{Op: "DescribeLaunchTemplates", Kind: cloudprovider.KindNotReady, Object: t.Name, RetryAfter: listLag,
			Err: errors.New("EC2 does not list the new launch template yet; repeat")}
	}
	return err
}

// listLag is how long EC2 may take to list a template.
const listLag = 5 * time.Second

// make makes a template, unless it exists.
func (s *Store) make(ctx context.Context, t Template) error {
	in := t.CreateInput()
	// The name identifies the content. The time in the token allows making a deleted template
	// again.
	token := api.ClientToken(t.Name, s.now().UTC().Format(time.RFC3339Nano))
	in.ClientToken = &token
	_, err := s.client.CreateLaunchTemplate(ctx, in)
	if api.Code(err) == "InvalidLaunchTemplateName.AlreadyExistsException" {
		return nil
	}
	if err == nil {
		s.mu.Lock()
		s.made[t.Name] = true
		s.mu.Unlock()
	}
	return api.Wrap("CreateLaunchTemplate", t.Name, err)
}

// Forget makes the next Use of these templates ask EC2 again. Call it when EC2 says that one does
// not exist.
func (s *Store) Forget(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if e := s.known[name]; e != nil {
			e.exists = false
		}
	}
}

// Collect deletes the templates of the cluster that were not used for as long as templates are
// kept, and returns their names, sorted. A template that this process sees for the first time
// counts as used now. Templates whose names are not ours are left alone. The error joins all
// failures; the other templates are deleted.
func (s *Store) Collect(ctx context.Context) ([]string, error) {
	names, err := s.list(ctx, nil)
	if err != nil {
		return nil, err
	}
	now := s.now()
	s.mu.Lock()
	present := map[string]bool{}
	var idle []string
	for _, name := range names {
		present[name] = true
		e := s.known[name]
		switch {
		case e == nil:
			s.known[name] = &entry{exists: true, checked: now, used: now}
		case e.inUse == 0 && e.making == nil && now.Sub(e.used) >= s.keep:
			idle = append(idle, name)
		}
	}
	maps.DeleteFunc(s.known, func(name string, e *entry) bool {
		return !present[name] && e.inUse == 0 && e.making == nil && now.Sub(e.used) >= s.keep
	})
	s.mu.Unlock()
	return s.delete(ctx, idle)
}

// DeleteClass deletes the templates of the cluster that were made for a node class
// and are not in use, and returns their names, sorted.
func (s *Store) DeleteClass(ctx context.Context, class string) ([]string, error) {
	names, err := s.list(ctx, &ec2types.Filter{Name: new("tag:" + awsv1.NodeClassTagKey), Values: []string{class}})
	if err != nil {
		return nil, err
	}
	return s.delete(ctx, names)
}

// list returns the names of the templates of the cluster that a filter, which may be
// nil, selects, sorted.
func (s *Store) list(ctx context.Context, filter *ec2types.Filter) (names []string, err error) {
	err = s.each(ctx, filter, func(name string, _ *ec2types.LaunchTemplate) { names = append(names, name) })
	slices.Sort(names)
	return names, err
}

// each visits the templates of the cluster that a filter, which may be nil, selects.
func (s *Store) each(ctx context.Context, filter *ec2types.Filter, visit func(name string, t *ec2types.LaunchTemplate)) error {
	filters := []ec2types.Filter{{Name: new("tag:" + awsv1.ClusterNameTagKey), Values: []string{s.cluster}}}
	if filter != nil {
		filters = append(filters, *filter)
	}
	p := ec2.NewDescribeLaunchTemplatesPaginator(s.client, &ec2.DescribeLaunchTemplatesInput{Filters: filters, MaxResults: new(int32(200))})
	err := api.Pages(ctx, p, func(page *ec2.DescribeLaunchTemplatesOutput) {
		for i := range page.LaunchTemplates {
			if name := awssdk.ToString(page.LaunchTemplates[i].LaunchTemplateName); strings.HasPrefix(name, awsv1.LaunchTemplateNamePrefix+"/") {
				visit(name, &page.LaunchTemplates[i])
			}
		}
	})
	return api.Wrap("DescribeLaunchTemplates", s.cluster, err)
}

// delete deletes templates except those that came into use meanwhile. If ctx ends before all are
// deleted, the error says so and the others stay.
func (s *Store) delete(ctx context.Context, names []string) ([]string, error) {
	var deleted []string
	var errs []error
	for _, name := range names {
		if ctx.Err() != nil {
			errs = append(errs, api.Wrap("DeleteLaunchTemplate", name, context.Cause(ctx)))
			break
		}
		s.mu.Lock()
		e := s.known[name]
		if e == nil {
			e = &entry{used: s.now()}
			s.known[name] = e
		}
		if e.inUse > 0 || e.making != nil {
			s.mu.Unlock()
			continue
		}
		e.making = make(chan struct{}) // a concurrent Use waits and makes the template again
		s.mu.Unlock()
		_, err := s.client.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &name})
		s.mu.Lock()
		close(e.making)
		e.making, e.exists = nil, false
		delete(s.made, name)
		s.mu.Unlock()
		switch {
		case err == nil:
			deleted = append(deleted, name)
		case !api.NotFound(err):
			errs = append(errs, api.Wrap("DeleteLaunchTemplate", name, err))
		}
	}
	return deleted, errors.Join(errs...)
}

// TurnKey is the tag of templates that only one process uses. Its value is the number of the turn
// of that process.
const TurnKey = "dovetail/turn"

// OfTurn returns the template with the same content for one turn. Its name differs from that of t
// and from those for other turns.
func (t Template) OfTurn(turn string) Template {
	t.Name = nameOf([]byte(t.Name + " " + turn))
	t.Tags = maps.Clone(t.Tags)
	t.Tags[TurnKey] = turn
	return t
}

// EndTurns deletes the templates of all turns, so that calls which name them and were not carried
// out yet fail. turn is the new turn of the caller, and higher than all others; ended says that
// there were templates of turns, and others is the result of Others. After an error some turns may
// have ended: repeat.
func (s *Store) EndTurns(ctx context.Context, now time.Time) (turn string, ended, others bool, err error) {
	highest := now.UnixNano()
	var names []string
	err = s.each(ctx, nil, func(name string, t *ec2types.LaunchTemplate) {
		others = others || s.foreign(name)
		for _, tag := range t.Tags {
			if awssdk.ToString(tag.Key) == TurnKey {
				names = append(names, name)
				if n, err := strconv.ParseInt(awssdk.ToString(tag.Value), 10, 64); err == nil && n >= highest {
					highest = n + 1
				}
			}
		}
	})
	if err != nil {
		return "", false, false, err
	}
	if _, err := s.delete(ctx, names); err != nil {
		return "", false, false, err
	}
	return strconv.FormatInt(highest, 10), len(names) > 0, others, context.Cause(ctx)
}

// Others reports whether EC2 lists a template of the cluster that this process has not made, so
// that another process may have launched.
func (s *Store) Others(ctx context.Context) (others bool, err error) {
	err = s.each(ctx, nil, func(name string, _ *ec2types.LaunchTemplate) { others = others || s.foreign(name) })
	return others, err
}

func (s *Store) foreign(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.made[name]
}
