package pack_test

import (
	"testing"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

func TestMain(m *testing.M) { testlong.Main(m) }
