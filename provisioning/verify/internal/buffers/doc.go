// Package buffers checks what a plan says of buffers. Its input are the buffers, what the plan says
// of each, and where it puts pods; its output what is wrong. It holds that each pod of a buffer is
// counted once, and that a buffer has a reason exactly if some pod has no place.
package buffers
