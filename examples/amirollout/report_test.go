package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpan(t *testing.T) {
	for text, minutes := range map[string]int{"0s": 0, "5m": 5, "1h": 60, "1d1m": 1441} {
		require.Equal(t, text, span(time.Duration(minutes)*time.Minute))
	}
}
