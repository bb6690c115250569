package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// fresh is how long a profile that was seen is assumed to exist before it is looked up again,
	// in the background.
	fresh = 15 * time.Minute
	// renewalPause is the pause after such a look-up has failed, and renewalBound how long it may
	// take, by the machine's clock.
	renewalPause, renewalBound = time.Minute, 2 * time.Minute
	// missing is how long a role that IAM does not know is not tried again, so that a misspelt role
	// does not make and delete profiles all the time.
	missing = time.Minute
	// profileDelay is how long IAM may take to know a new profile.
	profileDelay = 5 * time.Second
	// protected is how long a profile is not collected after its last use: the status of the class
	// or the NodeClaim that names it may not be stored yet.
	protected = time.Hour
)

// Keeper keeps the instance profiles of one cluster. Create it with NewKeeper.
type Keeper struct {
	client          api.IAM
	cluster, region string
	now             func() time.Time
	asking          *cache.Asking

	mu      sync.Mutex
	ready   map[string]sighting      // by name
	used    map[string]time.Time     // by name: when it was last given out
	refused map[string]refusal       // by role
	busy    map[string]chan struct{} // by class
}

// sighting is when a profile was last seen, with which role, and on which path.
type sighting struct {
	at         time.Time
	role, path string
	renewing   bool      // it is being looked up
	tried      time.Time // when looking it up failed last
}

type refusal struct {
	at  time.Time
	err error
}

// NewKeeper returns a Keeper for a cluster in a region. A nil client, as in a VPC from which IAM
// cannot be reached, makes Ensure refuse every class. asking runs the look-ups in the background.
func NewKeeper(client api.IAM, cluster, region string, now func() time.Time, asking *cache.Asking) *Keeper {
	return &Keeper{
		client: client, cluster: cluster, region: region, now: now, asking: asking,
		ready: map[string]sighting{}, used: map[string]time.Time{},
		refused: map[string]refusal{}, busy: map[string]chan struct{}{},
	}
}

// Name returns the name of the profile for the role of a class.
func (k *Keeper) Name(class *awsv1.EC2NodeClass) string {
	return awsv1.InstanceProfileName(k.cluster, k.region, class.Name, string(class.UID)+"/"+roleName(class.Spec.Role))
}

// owns reports whether a profile of this name and path was made for the class, by a Keeper or by
// Karpenter: it is on the path of the class, or has the name that Karpenter before 1.7 gave. Any
// other profile belongs to the user, even if the status of the class names it because
// spec.instanceProfile named it before.
func (k *Keeper) owns(class *awsv1.EC2NodeClass, name, path string) bool {
	return path == awsv1.InstanceProfilePath(k.cluster, k.region, string(class.UID)) ||
		name == awsv1.LegacyInstanceProfileName(k.cluster, k.region, class.Name)
}

// roleName returns the last segment of a role given with its path, because that segment alone
// identifies the role in IAM.
func roleName(role string) string { return role[strings.LastIndexByte(role, '/')+1:] }

// Ensure returns the name of a profile that has the role of the class:
//
//  1. the one in the status of the class, if it has the role and was made for the
//     class. Karpenter may have made it, under another name;
//  2. else the one with the name that Name returns, made if it does not exist.
//
// A profile was made for the class if it is on the path of the class, or has the name that
// Karpenter before 1.7 gave it. No other profile is returned or changed: if another one has the
// name of 2, that is an error.
//
// A known profile is returned at once, and looked up again in the background when it was last seen
// 15 minutes ago; a failure keeps it. If IAM does not say whether the profile of 1 has the role,
// that is an error, and no second profile is made.
func (k *Keeper) Ensure(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	if class.Spec.Role == "" {
		return "", k.fault(class, cloudprovider.KindDenied, "spec.role", "empty; name the role of nodes, or an instanceProfile", nil)
	}
	if k.client == nil {
		return "", k.fault(class, cloudprovider.KindNotReady, "spec.role",
			fmt.Sprintf("%q: IAM cannot be reached to make an instance profile for it; make one, and name it in spec.instanceProfile", class.Spec.Role), nil)
	}
	if name := k.known(ctx, class); name != "" {
		return k.give(name), nil
	}
	release, err := k.acquire(ctx, class.Name)
	if err != nil {
		return "", err
	}
	defer release()
	if name := k.known(ctx, class); name != "" { // found by the call that we waited for
		return k.give(name), nil
	}
	return k.find(ctx, class)
}

// known returns the profile that was seen for a class, or "", and looks it up again in the
// background when it is due.
func (k *Keeper) known(ctx context.Context, class *awsv1.EC2NodeClass) string {
	role := roleName(class.Spec.Role)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range []string{class.Status.InstanceProfile, k.Name(class)} {
		s, found := k.ready[name]
		if name == "" || !found || s.role != role || !k.owns(class, name, s.path) {
			continue
		}
		now := k.now()
		if aged := now.Sub(s.at); (aged < 0 || aged >= fresh) && !s.renewing && (s.tried.IsZero() || now.Sub(s.tried) >= renewalPause) {
			class := class.DeepCopy()
			if k.asking.Run(ctx, renewalBound, func(ctx context.Context) { k.renew(ctx, class, name) }) {
				s.renewing = true
				k.ready[name] = s
			}
		}
		return name
	}
	return ""
}

// renew looks up a profile again. It forgets the profile if it is gone or lacks the role, and keeps
// it if IAM gives no answer.
func (k *Keeper) renew(ctx context.Context, class *awsv1.EC2NodeClass, name string) {
	release, err := k.acquire(ctx, class.Name)
	if err == nil {
		defer release()
		_, err = k.find(ctx, class)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s, found := k.ready[name]
	if !found {
		return
	}
	s.renewing = false
	if err != nil {
		s.tried = k.now()
	}
	k.ready[name] = s
}

// find asks IAM for the profile of a class, and makes it if need be. The class is
// acquired.
func (k *Keeper) find(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	role, own := roleName(class.Spec.Role), k.Name(class)
	if err := k.isRefused(role); err != nil {
		return "", k.fault(class, cloudprovider.KindNotFound, "spec.role", fmt.Sprintf("%q: IAM has no such role; create it, or correct the name", class.Spec.Role), err)
	}
	if given := class.Status.InstanceProfile; given != "" && given != own {
		has, err := k.hasRole(ctx, class, given, role)
		if err != nil {
			return "", err
		}
		if has {
			return k.give(given), nil
		}
	}
	if err := k.make(ctx, class, own, role); err != nil {
		return "", err
	}
	return k.give(own), nil
}

func (k *Keeper) fault(class *awsv1.EC2NodeClass, kind cloudprovider.Kind, field, text string, err error) error {
	cause := api.Explained(fmt.Sprintf("EC2NodeClass %s: %s: %s", class.Name, field, text), err)
	return &cloudprovider.Error{Op: "InstanceProfile", Kind: kind, Object: class.Name, Reason: api.Code(err), Err: cause}
}

// acquire waits for calls about the same class.
func (k *Keeper) acquire(ctx context.Context, class string) (func(), error) {
	for {
		k.mu.Lock()
		wait := k.busy[class]
		if wait == nil {
			done := make(chan struct{})
			k.busy[class] = done
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.busy, class)
				close(done)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, api.Wrap("InstanceProfile", class, context.Cause(ctx))
		}
	}
}

func (k *Keeper) give(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used[name] = k.now()
	return name
}

func (k *Keeper) isRefused(role string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, found := k.refused[role]
	if !found || k.now().Sub(r.at) >= missing {
		return nil
	}
	return r.err
}

// hasRole reports whether a profile exists, was made for the class, and has the role.
func (k *Keeper) hasRole(ctx context.Context, class *awsv1.EC2NodeClass, name, role string) (bool, error) {
	p, err := k.get(ctx, name)
	if err != nil {
		return false, err
	}
	if p == nil || len(p.Roles) != 1 || awssdk.ToString(p.Roles[0].RoleName) != role || !k.owns(class, name, awssdk.ToString(p.Path)) {
		k.Forget(name)
		return false, nil
	}
	k.seen(name, role, awssdk.ToString(p.Path))
	return true, nil
}

func (k *Keeper) seen(name, role, path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ready[name] = sighting{at: k.now(), role: role, path: path}
}

// Forget makes the next Ensure look up a profile again. Call it when EC2 says that there is no
// profile of this name: it may have been deleted.
func (k *Keeper) Forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.ready, name)
}

// get returns a profile, and nil if there is none.
func (k *Keeper) get(ctx context.Context, name string) (*iamtypes.InstanceProfile, error) {
	out, err := k.client.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	switch {
	case api.NotFound(err):
		return nil, nil
	case err != nil:
		return nil, api.Wrap("GetInstanceProfile", name, err)
	case out == nil:
		return nil, nil
	}
	return out.InstanceProfile, nil
}

// make makes the profile, or completes a profile without a role.
func (k *Keeper) make(ctx context.Context, class *awsv1.EC2NodeClass, name, role string) error {
	p, err := k.get(ctx, name)
	if err != nil {
		return err
	}
	path, made := awsv1.InstanceProfilePath(k.cluster, k.region, string(class.UID)), p == nil
	if made {
		_, err := k.client.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: &name, Path: &path, Tags: tags(class.InstanceProfileTags(k.cluster, k.region)),
		})
		if err != nil && api.Code(err) != "EntityAlreadyExists" {
			return api.Wrap("CreateInstanceProfile", name, err)
		}
		p = &iamtypes.InstanceProfile{Path: &path}
	}
	if had := awssdk.ToString(p.Path); !k.owns(class, name, had) {
		return k.fault(class, cloudprovider.KindDenied, "spec.role", fmt.Sprintf(
			"%q: an instance profile %s is there already, on the path %s and not on %s; delete it, or name it in spec.instanceProfile", class.Spec.Role, name, had, path), nil)
	}
	for _, r := range p.Roles {
		had := awssdk.ToString(r.RoleName)
		if had == role {
			k.seen(name, role, path)
			return nil
		}
		_, err := k.client.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: &had})
		if err != nil && !api.NotFound(err) {
			return api.Wrap("RemoveRoleFromInstanceProfile", name, err)
		}
	}
	_, err = k.client.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &role})
	if api.Code(err) == "LimitExceeded" { // perhaps it was added by a call whose answer was lost
		if has, _ := k.hasRole(ctx, class, name, role); has {
			return nil
		}
	}
	switch {
	case err == nil:
		k.seen(name, role, path)
		return nil
	case api.NotFound(err) && strings.Contains(strings.ToLower(err.Error()), "instance profile"):
		// IAM does not know the new profile yet; the role exists.
		return &cloudprovider.Error{Op: "InstanceProfile", Kind: cloudprovider.KindNotReady, Object: class.Name, Reason: api.Code(err), RetryAfter: profileDelay,
			Err: fmt.Errorf("EC2NodeClass %s: IAM does not know the new instance profile %s yet; repeat", class.Name, name)}
	case api.NotFound(err):
		k.mu.Lock()
		k.refused[role] = refusal{at: k.now(), err: err}
		delete(k.ready, name)
		k.mu.Unlock()
		if made { // a profile without a role is useless
			err = errors.Join(err, k.remove(context.WithoutCancel(ctx), name, nil))
		}
		return k.fault(class, cloudprovider.KindNotFound, "spec.role", fmt.Sprintf("%q: IAM has no such role; create it, or correct the name", class.Spec.Role), err)
	}
	return api.Wrap("AddRoleToInstanceProfile", name, err)
}

// remove takes the roles off a profile and deletes it.
func (k *Keeper) remove(ctx context.Context, name string, roles []iamtypes.Role) error {
	k.mu.Lock()
	delete(k.ready, name)
	k.mu.Unlock()
	for _, r := range roles {
		_, err := k.client.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: r.RoleName})
		if err != nil && !api.NotFound(err) {
			return api.Wrap("RemoveRoleFromInstanceProfile", name, err)
		}
	}
	_, err := k.client.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	if api.NotFound(err) {
		return nil
	}
	return api.Wrap("DeleteInstanceProfile", name, err)
}

// Collect deletes the profiles of the cluster that are not in inUse and that Ensure has not
// returned within the last hour, and returns their names, sorted. For profiles that this process
// has not returned, the hour begins when they were made. inUse are the profiles in the status of
// all classes and in the annotations of all NodeClaims. The error joins all failures. Without a
// client Collect does nothing.
func (k *Keeper) Collect(ctx context.Context, inUse map[string]bool) ([]string, error) {
	return k.sweep(ctx, awsv1.InstanceProfilePath(k.cluster, k.region, ""), func(p *iamtypes.InstanceProfile) bool {
		name := awssdk.ToString(p.InstanceProfileName)
		k.mu.Lock()
		defer k.mu.Unlock()
		last := k.used[name]
		if created := awssdk.ToTime(p.CreateDate); created.After(last) {
			last = created
		}
		return inUse[name] || k.now().Sub(last) < protected
	})
}

// DeleteClass deletes all profiles that were made for a class, including the one that Karpenter
// before 1.7 made, and returns their names, sorted. Call it when no node of the class is left.
func (k *Keeper) DeleteClass(ctx context.Context, class *awsv1.EC2NodeClass) ([]string, error) {
	if k.client == nil || class.UID == "" {
		return nil, nil
	}
	deleted, err := k.sweep(ctx, awsv1.InstanceProfilePath(k.cluster, k.region, string(class.UID)), func(*iamtypes.InstanceProfile) bool { return false })
	if err != nil {
		return deleted, err
	}
	legacy := awsv1.LegacyInstanceProfileName(k.cluster, k.region, class.Name)
	p, err := k.get(ctx, legacy)
	if err != nil || p == nil {
		return deleted, err
	}
	if err := k.remove(ctx, legacy, p.Roles); err != nil {
		return deleted, err
	}
	return slices.Sorted(slices.Values(append(deleted, legacy))), nil
}

// sweep deletes the profiles on a path for which spare is false.
func (k *Keeper) sweep(ctx context.Context, path string, spare func(*iamtypes.InstanceProfile) bool) ([]string, error) {
	if k.client == nil {
		return nil, nil
	}
	var found []iamtypes.InstanceProfile
	p := iam.NewListInstanceProfilesPaginator(k.client, &iam.ListInstanceProfilesInput{PathPrefix: &path})
	err := api.Pages(ctx, p, func(page *iam.ListInstanceProfilesOutput) { found = append(found, page.InstanceProfiles...) })
	if err != nil {
		return nil, api.Wrap("ListInstanceProfiles", path, err)
	}
	var deleted []string
	var errs []error
	for i := range found {
		if spare(&found[i]) {
			continue
		}
		name := awssdk.ToString(found[i].InstanceProfileName)
		if err := k.remove(ctx, name, found[i].Roles); err != nil {
			errs = append(errs, err)
			continue
		}
		deleted = append(deleted, name)
	}
	k.mu.Lock()
	maps.DeleteFunc(k.used, func(_ string, at time.Time) bool { return k.now().Sub(at) >= protected })
	k.mu.Unlock()
	slices.Sort(deleted)
	return deleted, errors.Join(errs...)
}

// tags returns tags in the form of IAM, sorted by key.
func tags(all map[string]string) []iamtypes.Tag {
	var out []iamtypes.Tag
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, iamtypes.Tag{Key: new(key), Value: new(all[key])})
	}
	return out
}
