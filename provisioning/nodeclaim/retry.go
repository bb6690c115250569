package nodeclaim

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
)

// RetryAnnotationKey is the annotation of a NodeClaim whose launch has failed: how often,
// and from when on to ask the cloud again. Its text is for EditRetry and NextLaunch
// alone. It stands in the cluster, so a program that is started again asks no sooner.
const RetryAnnotationKey = "dovetail-sdk.github.io/launch-retry"

// hopeless is how long a launch is left alone that the cloud will not do when it is
// asked again: until then somebody may have mended what is wrong.
const hopeless = time.Minute

// EditRetry is a NodeClaim whose launch has just failed with err once more. The time until the
// next attempt is that of retry.Next, with the UID of the claim as its token, and a
// minute for errors that it gives up on. The claim given is not changed; without an
// error, or a claim, it is returned itself.
func EditRetry(claim *v1.NodeClaim, err error, now time.Time) *v1.NodeClaim {
	if claim == nil || err == nil {
		return claim
	}
	count, _ := retries(claim)
	if count < 1_000_000 {
		count++
	}
	delay, giveUp := retry.Next(count, err, string(claim.UID))
	if giveUp {
		delay = hopeless
	}
	c := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, RetryAnnotationKey, fmt.Sprintf("%d %s", count, now.Add(delay).UTC().Format(time.RFC3339Nano)))
	return c
}

// NextLaunch is from when on to ask the cloud for the machine of a claim; zero for at
// once, as for one that was never asked for, or whose annotation cannot be read.
func NextLaunch(claim *v1.NodeClaim) time.Time {
	if claim == nil {
		return time.Time{}
	}
	_, next := retries(claim)
	return next
}

// retries reads the annotation.
func retries(claim *v1.NodeClaim) (count int, next time.Time) {
	var at string
	if _, err := fmt.Sscanf(claim.Annotations[RetryAnnotationKey], "%d %s", &count, &at); err != nil || count < 1 {
		return 0, time.Time{}
	}
	next, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return 0, time.Time{}
	}
	return count, next
}
