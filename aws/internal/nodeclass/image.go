package nodeclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const imagesPerPage = 1000

// ReadsParameters reports whether there is a client for parameters.
func (s *Sources) ReadsParameters() bool { return s.clients.SSM != nil }

// Parameter returns the value of a parameter of Systems Manager, given by name or ARN, and the
// empty text if there is no such parameter. mutable says that its value may change. Without a
// client the error is KindUnsupported.
func (s *Sources) Parameter(ctx context.Context, name string, mutable bool) (string, cache.Reading, error) {
	if s.clients.SSM == nil {
		return "", cache.Reading{}, &cloudprovider.Error{Op: "GetParameter", Object: name, Kind: cloudprovider.KindUnsupported,
			Err: errors.New("there is no client for Systems Manager; set one, or select the image by id or name")}
	}
	cells := s.static
	if mutable {
		cells = s.mutable
	}
	return cells.Get(ctx, name, func(ctx context.Context) (string, error) { return s.readParameter(ctx, name) })
}

func (s *Sources) readParameter(ctx context.Context, name string) (string, error) {
	out, err := s.clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	if api.NotFound(err) {
		return "", nil
	}
	if err == nil && (out == nil || out.Parameter == nil || awssdk.ToString(out.Parameter.Value) == "") {
		err = errors.New("the answer has no value")
	}
	if err != nil {
		return "", api.Wrap("GetParameter", name, err)
	}
	return *out.Parameter.Value, nil
}

// Images returns the images that a query for images selects, each once, sorted by
// id. A query is what amiselect.Queries returns; equal ones are asked once.
func (s *Sources) Images(ctx context.Context, q amiselect.Query) ([]amiselect.Image, cache.Reading, error) {
	l := lookup{}
	for _, f := range q.Filters {
		l.filters = append(l.filters, filter(f.Name, f.Values...))
	}
	key := l.key()
	if len(q.Owners) > 0 {
		key += fmt.Sprintf(" of %q", q.Owners)
	}
	return s.images.Get(ctx, key, func(ctx context.Context) ([]amiselect.Image, error) {
		return s.readImages(ctx, key, q, l)
	})
}

func (s *Sources) readImages(ctx context.Context, key string, q amiselect.Query, l lookup) ([]amiselect.Image, error) {
	var found []amiselect.Image
	var faults []error
	pages := ec2.NewDescribeImagesPaginator(s.clients.EC2,
		&ec2.DescribeImagesInput{Filters: l.filters, Owners: q.Owners, IncludeDeprecated: &q.IncludeDeprecated},
		func(o *ec2.DescribeImagesPaginatorOptions) { o.Limit = imagesPerPage })
	err := api.Pages(ctx, pages, func(page *ec2.DescribeImagesOutput) {
		for i := range page.Images {
			image, err := newImage(&page.Images[i])
			faults = append(faults, err)
			found = append(found, image)
		}
	})
	if err = errors.Join(append(faults, err)...); err != nil {
		return nil, api.Wrap("DescribeImages", key, err)
	}
	s.learnAccount(q.Owners, found)
	slices.SortStableFunc(found, func(a, b amiselect.Image) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(found, func(a, b amiselect.Image) bool { return a.ID == b.ID }), nil
}

// newImage reads an image. An unreadable image fails the whole answer, because without it an older
// image would look like the newest.
func newImage(i *ec2types.Image) (amiselect.Image, error) {
	out := amiselect.Image{ID: awssdk.ToString(i.ImageId), Name: awssdk.ToString(i.Name), OwnerID: awssdk.ToString(i.OwnerId), OwnerAlias: awssdk.ToString(i.ImageOwnerAlias),
		Architecture: string(i.Architecture), State: string(i.State)}
	var faults []error
	if out.ID == "" {
		faults = append(faults, fmt.Errorf("an image named %q has no id", out.Name))
	}
	var err error
	if out.Created, err = amiselect.ParseTime(awssdk.ToString(i.CreationDate)); err != nil {
		faults = append(faults, fmt.Errorf("image %s: creation date: %w", out.ID, err))
	}
	if at := awssdk.ToString(i.DeprecationTime); at != "" {
		if out.DeprecationTime, err = amiselect.ParseTime(at); err != nil {
			faults = append(faults, fmt.Errorf("image %s: deprecation time: %w", out.ID, err))
		}
	}
	for _, tag := range i.Tags {
		if out.Tags == nil {
			out.Tags = make(map[string]string, len(i.Tags))
		}
		out.Tags[awssdk.ToString(tag.Key)] = awssdk.ToString(tag.Value)
	}
	return out, errors.Join(faults...)
}

// ownerSelf stands for the account of the credentials.
const ownerSelf = "self"

// learnAccount reads the account of the credentials from an answer about its own images: images of
// Amazon have an owner alias, so images without one are its own.
func (s *Sources) learnAccount(owners []string, found []amiselect.Image) {
	if !slices.Contains(owners, ownerSelf) {
		return
	}
	for _, o := range owners {
		if o != ownerSelf && o != "amazon" {
			return
		}
	}
	for i := range found {
		if found[i].OwnerAlias == "" && found[i].OwnerID != "" {
			s.mu.Lock()
			s.account = found[i].OwnerID
			s.mu.Unlock()
			return
		}
	}
}

// Account returns the account of the credentials: the one that the caller has set, else the owner
// of its own images, else that of the cluster, else "". If no answer has an own image the account
// may stay unknown; then it has no effect.
func (s *Sources) Account(ctx context.Context) (string, error) {
	if s.opts.Account != "" {
		return s.opts.Account, ctx.Err()
	}
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	if account != "" {
		return account, ctx.Err()
	}
	c, _, err := s.Cluster(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", nil //nolint:nilerr // the account is unknown; Health has the error
	}
	return c.Account, nil
}

// noAccount stands for an unknown account of the caller. No own image was found then, so it has to
// match no image.
const noAccount = "000000000000"

// images selects the images.
func (w *work) images() {
	const kind = awsv1.ConditionTypeAMIsReady
	if w.invalid(kind, "amiSelectorTerms", "amiFamily") {
		return
	}
	selection, reading, err := w.selectImages()
	var lookup *cloudprovider.Error
	switch {
	case err == nil:
		w.out.Selection = selection
		w.class.Status.AMIs = statusImages(w.now, selection)
		w.conditions.isTrue(kind, w.stale("images", reading))
	case errors.Is(err, amiselect.ErrUnsupportedAlias):
		w.conditions.isFalse(kind, awsv1.ReasonUnsupportedAlias, oneLine(err))
	case errors.Is(err, amiselect.ErrNoImage):
		w.conditions.isFalse(kind, awsv1.ReasonAMINotFound, "spec.amiSelectorTerms: "+oneLine(err))
	case errors.As(err, &lookup):
		w.failed(kind, "images", err, func() { w.class.Status.AMIs = w.before.DeepCopy().Status.AMIs })
	default:
		// All other errors are faults of the terms: errors of AWS are handled above.
		w.conditions.isFalse(kind, ReasonInvalidSpec, "spec.amiSelectorTerms: "+oneLine(err))
	}
}

// selectImages asks AWS for the parameters and images of the terms, and selects from the answers.
func (w *work) selectImages() (amiselect.Selection, cache.Reading, error) {
	src, terms := w.r.src, w.class.AMITerms()
	env := amiselect.Environment{History: w.r.opts.MinImageAge > 0 || len(w.r.opts.DenyImages) > 0 || !src.ReadsParameters()}
	if src.ReadsParameters() {
		env.Parameters = map[string]string{}
	}
	var reading cache.Reading
	if slices.ContainsFunc(terms, func(t amiselect.Term) bool { return t.Alias != "" }) {
		cluster, r, err := src.Cluster(w.ctx)
		if err != nil {
			return amiselect.Selection{}, reading, err
		}
		env.KubernetesVersion, reading = cluster.Version, r
	}
	queries, err := w.parameters(terms, &env, &reading)
	if err != nil {
		return amiselect.Selection{}, reading, err
	}
	images, err := w.describeImages(queries, &reading)
	if err != nil {
		return amiselect.Selection{}, reading, err
	}
	account, err := src.Account(w.ctx)
	if err != nil {
		return amiselect.Selection{}, reading, err
	}
	env.Account = cmp.Or(account, noAccount)
	selection, err := amiselect.Select(w.now, terms, images,
		&amiselect.Options{Environment: env, MinAge: w.r.opts.MinImageAge, Deny: w.r.opts.DenyImages})
	return selection, reading, err
}

// parameters reads the parameters that the terms name, and returns the queries for images. A
// parameter that cannot be read fails all: without it another image would be selected, and nodes
// would be replaced.
func (w *work) parameters(terms []amiselect.Term, env *amiselect.Environment, reading *cache.Reading) ([]amiselect.Query, error) {
	for {
		queries, err := amiselect.Queries(terms, *env)
		if err != nil {
			return nil, err
		}
		asked := false
		for _, q := range queries {
			if q.Kind != amiselect.QueryParameter {
				continue
			}
			if env.Parameters == nil {
				continue // Select reports the missing client
			}
			value, r, err := w.r.src.Parameter(w.ctx, q.Parameter, q.Mutable)
			if err != nil {
				return nil, err
			}
			env.Parameters[q.Parameter], asked = value, true
			*reading = worse(*reading, r)
		}
		if !asked {
			return queries, nil
		}
	}
}

// describeImages returns the images of the queries, each once, sorted by id. Answers
// of different instants may differ; then the later one counts.
func (w *work) describeImages(queries []amiselect.Query, reading *cache.Reading) ([]amiselect.Image, error) {
	byID, at := map[string]amiselect.Image{}, map[string]time.Time{}
	for _, q := range queries {
		if q.Kind != amiselect.QueryImages {
			continue
		}
		found, r, err := w.r.src.Images(w.ctx, q)
		if err != nil {
			return nil, err
		}
		*reading = worse(*reading, r)
		for _, image := range found {
			if _, known := byID[image.ID]; !known || r.At.After(at[image.ID]) {
				byID[image.ID], at[image.ID] = image, r.At
			}
		}
	}
	out := make([]amiselect.Image, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id])
	}
	return out, nil
}

// worse merges two readings: the first failure, and the older instant.
func worse(a, b cache.Reading) cache.Reading {
	switch {
	case a.Stale:
		return a
	case b.Stale:
		return b
	case a.At.IsZero() || !b.At.IsZero() && b.At.Before(a.At):
		return b
	}
	return a
}

// statusImages writes a selection into a status: what was chosen, in its order, with
// the requirements sorted by the length of their keys and then the keys, as
// Karpenter does.
func statusImages(now time.Time, s amiselect.Selection) []awsv1.AMI {
	var out []awsv1.AMI
	for _, c := range s.Choices() {
		out = append(out, awsv1.AMI{ID: c.Image.ID, Name: c.Image.Name, Deprecated: c.Image.Deprecated(now),
			Requirements: nodeSelector(c.Requirements)})
	}
	return out
}

func nodeSelector(set requirements.Set) []corev1.NodeSelectorRequirement {
	out := []corev1.NodeSelectorRequirement{}
	for _, r := range set.NodeSelectorRequirements() {
		out = append(out, corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	slices.SortStableFunc(out, func(a, b corev1.NodeSelectorRequirement) int {
		return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), strings.Compare(a.Key, b.Key))
	})
	return out
}
