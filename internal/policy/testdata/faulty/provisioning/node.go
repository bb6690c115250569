package provisioning

// Node has a method that the referee may use too.
type Node struct{}

// Name does.
func (n Node) Name() string { return "" }
