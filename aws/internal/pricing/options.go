package pricing

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options are what Prices go by. Region is required; zero for anything else means
// its default.
type Options struct {
	// Region is the region that the prices are of.
	Region string

	// SpotMaxAge is how long spot prices are in date. Default a day.
	SpotMaxAge time.Duration
	// OnDemandMaxAge is how long those of the price list are. Default a week.
	OnDemandMaxAge time.Duration
	// FileMaxAge is how long those of a file are, from the instant that it says.
	// Default 90 days.
	FileMaxAge time.Duration

	// SpotRefresh is how long after an answer the history of spot prices should
	// be asked again. Default an hour.
	SpotRefresh time.Duration
	// OnDemandRefresh is that of the price list. Default twelve hours.
	OnDemandRefresh time.Duration
}

const (
	day = 24 * time.Hour

	// forgetSpot is how long a spot price is kept after it was last reported, in
	// or out of date: a zone that has stopped to sell the type is not to keep it.
	forgetSpot = 30 * day
	// firstRetry is how soon a source is asked again that failed once.
	firstRetry = time.Minute
)

func (o Options) withDefaults() Options {
	o.SpotMaxAge = cmp.Or(o.SpotMaxAge, day)
	o.OnDemandMaxAge = cmp.Or(o.OnDemandMaxAge, 7*day)
	o.FileMaxAge = cmp.Or(o.FileMaxAge, 90*day)
	o.SpotRefresh = cmp.Or(o.SpotRefresh, time.Hour)
	o.OnDemandRefresh = cmp.Or(o.OnDemandRefresh, 12*time.Hour)
	return o
}

// Validate returns nil, or an error that lists every fault of the options.
func (o Options) Validate() error {
	var faults []error
	if !plain(o.Region) {
		faults = append(faults, fmt.Errorf("region: %q; use the name of the region, such as us-east-1", o.Region))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"spotMaxAge", o.SpotMaxAge}, {"onDemandMaxAge", o.OnDemandMaxAge}, {"fileMaxAge", o.FileMaxAge},
		{"spotRefresh", o.SpotRefresh}, {"onDemandRefresh", o.OnDemandRefresh},
	} {
		if d.value < 0 {
			faults = append(faults, fmt.Errorf("%s: %v; use a time above zero, or zero for the default", d.name, d.value))
		}
	}
	return errors.Join(faults...)
}
