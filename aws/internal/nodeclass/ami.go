package nodeclass

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// noAccount stands for the account of the caller where nothing tells it: then no
// image of his own was found, and it must only match none.
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
		// All else is about what was asked: what AWS says comes as the above.
		w.conditions.isFalse(kind, ReasonInvalidSpec, "spec.amiSelectorTerms: "+oneLine(err))
	}
}

// selectImages asks what the terms ask for, and selects from the answers.
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

// parameters reads the parameters that the terms name, and returns the queries for
// images that are left. One parameter that could not be read fails all: without it
// another image would be taken, and nodes of this one replaced.
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
				continue // Select says that it is needed
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
