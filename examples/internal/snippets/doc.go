// Package snippets contains the programs shown in docs. They are Examples, so that the code in docs
// is compiled and run, and its output compared. The package exports nothing.
package snippets
