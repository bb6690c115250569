// Package broken does not compile.
package broken

var x = nothing // want compile: undefined: nothing
