package nodeclaim

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
)

// RetryAnnotationKey is the annotation of a NodeClaim whose launch has failed: the number of
// failures, and the time of the next attempt. Only EditRetry and NextLaunch use its text. It is
// stored in the cluster, so that a restarted program does not ask earlier.
const RetryAnnotationKey = "dovetail-sdk.github.io/launch-retry"

// permanentPause is the pause after an error that repeating does not fix: the cause may be
// corrected meanwhile.
const permanentPause = time.Minute

// EditRetry returns a NodeClaim with one more failed launch, err, in its annotation. The pause
// until the next attempt is that of retry.Delay, with the UID of the claim as its token, and a
// minute for errors that it gives up on. The given claim is not changed; if err or claim is nil, it
// is returned itself.
func EditRetry(now time.Time, claim *v1.NodeClaim, err error) *v1.NodeClaim {
	if claim == nil || err == nil {
		return claim
	}
	count, _ := retries(claim)
	if count < 1_000_000 {
		count++
	}
	delay, giveUp := retry.Delay(count, err, string(claim.UID))
	if giveUp {
		delay = permanentPause
	}
	c := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, RetryAnnotationKey, fmt.Sprintf("%d %s", count, now.Add(delay).UTC().Format(time.RFC3339Nano)))
	return c
}

// NextLaunch returns when to ask the cloud for the machine of a claim; zero means at once, for a
// first attempt or an unreadable annotation.
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
