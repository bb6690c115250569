package cloudprovidertest_test

import (
	"fmt"
	"testing"
)

// recorder is a testing.TB that keeps what a test dies of.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic(r.text)
}
