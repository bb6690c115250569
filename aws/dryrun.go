package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

const (
	// dryRunGood is how long the answer of a dry run is good for, if nothing of the
	// class changes.
	dryRunGood = 30 * time.Minute
	// dryRunPause is how long none is made after one that failed, so that all who
	// want to launch do not fail one after another.
	dryRunPause = 3 * time.Second
)

// trial is what EC2 said of a launch that was tried: a reason that is not empty is in the
// way.
type trial struct{ reason, message string }

// newDryRuns returns the answers of dry runs, by name and state of the class. They are
// answers as all others: when they are due EC2 is asked beside the caller.
func newDryRuns(now func() time.Time, asking *cache.Asking) *cache.Keyed[trial] {
	return cache.NewKeyed(cache.Settings[trial]{
		Name: "dry run", Now: now, Refresh: dryRunGood, Asking: asking,
		Pause: func(int, error) time.Duration { return dryRunPause },
	})
}

// dryRun asks EC2 whether a launch from the class would be allowed, without
// launching: by making a launch template, and by dry runs of CreateFleet and
// RunInstances. A reason that is not empty says what is in the way; an error, that
// nothing is known. Answers are kept for a class as it is, and errors for some seconds.
func (p *Provider) dryRun(ctx context.Context, class *awsv1.EC2NodeClass) (reason, message string, err error) {
	key, err := dryRunKey(class)
	if err != nil {
		return "", "", err
	}
	key = class.Name + "/" + key
	p.forgetDryRuns(class.Name, key)
	tried := class.DeepCopy() // which may go on for longer than the call
	t, _, err := p.dryRuns.Get(ctx, key, func(ctx context.Context) (t trial, err error) {
		t.reason, t.message, err = p.tryLaunch(ctx, tried)
		return t, err
	})
	return t.reason, t.message, err
}

// forgetDryRuns drops the answers for a class but that of a key.
func (p *Provider) forgetDryRuns(class, but string) {
	p.dryRuns.Forget(func(key string) bool { return key != but && strings.HasPrefix(key, class+"/") })
}

// dryRunKey changes when an answer may be another.
func dryRunKey(class *awsv1.EC2NodeClass) (string, error) {
	status := class.Status.DeepCopy()
	status.Conditions, status.CapacityReservations = nil, nil
	slices.SortFunc(status.Subnets, func(a, b awsv1.Subnet) int { return strings.Compare(a.ID, b.ID) })
	text, err := json.Marshal(struct {
		UID         string
		Annotations map[string]string
		Spec        awsv1.EC2NodeClassSpec
		Status      *awsv1.EC2NodeClassStatus
	}{string(class.UID), class.Annotations, class.Spec, status})
	if err != nil {
		return "", fmt.Errorf("EC2NodeClass %s: %w", class.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
