// Package same compares the contents of two snapshots, regardless of the order of their lists and
// of object identity.
package same
