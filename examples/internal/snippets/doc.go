// Package snippets holds the programs that the pages of docs show. They are
// Examples, so that what a page says is compiled, run, and compared with what
// comes out. There is nothing in it to import.
package snippets
