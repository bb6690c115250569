// A module in which every rule is broken, to prove that each can fail.
module example.com/faulty

go 1.26.0

require (
	example.com/unlisted v0.0.0 // want dependencies: example.com/unlisted is required, but no line of dependencies.txt allows it
	k8s.io/client-go v0.0.0
)

replace (
	example.com/unlisted => ./third/unlisted // want dependencies: example.com/unlisted => ./third/unlisted holds here alone
	k8s.io/client-go => ./third/clientgo // want dependencies: k8s.io/client-go => ./third/clientgo holds here alone
)
