package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

const (
	// dryRunGood is how long the answer of a dry run is good for, if nothing of the
	// class changes.
	dryRunGood = 30 * time.Minute
	// dryRunPause is how long none is made after one that failed, so that all who
	// want to launch do not fail one after another.
	dryRunPause = 3 * time.Second
)

// dryRuns are the answers of dry runs.
type dryRuns struct {
	mu   sync.Mutex
	all  map[string]*dryRunAnswer // by class
	busy map[string]chan struct{} // by class
}

// dryRunAnswer is what was found for a class as it was.
type dryRunAnswer struct {
	key             string
	at              time.Time
	reason, message string
	err             error // nothing is known
}

// good reports whether the answer holds for a class as it is.
func (a *dryRunAnswer) good(key string, now time.Time) bool {
	patience := dryRunGood
	if a.err != nil {
		patience = dryRunPause
	}
	age := now.Sub(a.at)
	return a.key == key && age >= 0 && age < patience
}

// dryRun asks EC2 whether a launch from the class would be allowed, without
// launching: by making a launch template, and by dry runs of CreateFleet and
// RunInstances. A reason that is not empty says what is in the way; an error, that
// nothing is known. Answers are kept, one for each class; errors for some seconds.
func (p *Provider) dryRun(ctx context.Context, class *awsv1.EC2NodeClass) (reason, message string, err error) {
	key, err := dryRunKey(class)
	if err != nil {
		return "", "", err
	}
	answer, release, err := p.dryRuns.begin(ctx, class.Name, key, p.opts.Now)
	switch {
	case err != nil:
		return "", "", err
	case answer != nil:
		return answer.reason, answer.message, answer.err
	}
	defer release()
	reason, message, err = p.tryLaunch(ctx, class)
	if ctx.Err() == nil { // one who gives up says nothing about AWS
		p.dryRuns.keep(class.Name, &dryRunAnswer{key: key, at: p.opts.Now(), reason: reason, message: message, err: err})
	}
	return reason, message, err
}

// begin returns the answer that there is, or else the right to find one.
func (d *dryRuns) begin(ctx context.Context, class, key string, now func() time.Time) (*dryRunAnswer, func(), error) {
	for {
		d.mu.Lock()
		if a := d.all[class]; a != nil && a.good(key, now()) {
			d.mu.Unlock()
			return a, nil, nil
		}
		wait := d.busy[class]
		if wait == nil {
			if d.busy == nil {
				d.busy, d.all = map[string]chan struct{}{}, map[string]*dryRunAnswer{}
			}
			done := make(chan struct{})
			d.busy[class] = done
			d.mu.Unlock()
			return nil, func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(d.busy, class)
				close(done)
			}, nil
		}
		d.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// forget drops the answer for a class.
func (d *dryRuns) forget(class string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, class)
}

func (d *dryRuns) keep(class string, a *dryRunAnswer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[class] = a
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
