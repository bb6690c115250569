// Package same compares what two snapshots say, whatever the order of their lists and
// whoever read them.
package same
