// Package output holds what small programs print against the text that their
// README.md shows.
package output

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// Of runs a program, and returns what testdata/output.txt says that it prints and what
// it printed. With -update it writes that file first.
func Of(t *testing.T, program func()) (want, got string) {
	t.Helper()
	printed := filepath.Join(t.TempDir(), "output.txt")
	file, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	program()
	os.Stdout = stdout
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "output.txt")
	if *update {
		if err := os.WriteFile(golden, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expected, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	return string(expected), string(text)
}
