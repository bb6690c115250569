package policy

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// layer says which packages of this module a package may import outside its
// tests. The first layer that matches a package holds.
type layer struct {
	packages string   // pattern
	may      []string // patterns
	why      string   // shown when the layer is broken
}

// Names for the lower parts of the table.
var (
	leaves   = []string{"api/v1", "provisioning/requirements", "provisioning/resources"}
	contract = append([]string{"cloudprovider"}, leaves...)
	engine   = append([]string{"provisioning", "provisioning/progress", "provisioning/verify", "budgets", "cloudprovider/launch", "cloudprovider/overlay"}, contract...)
	parts    = []string{"internal/minors", "internal/order", "internal/parallel", "internal/podlife", "internal/quantity", "internal/engine/bitset", "internal/engine/cover", "internal/engine/device", "internal/engine/disjoint", "internal/engine/faults", "internal/engine/flow", "internal/engine/knapsack", "internal/engine/levels",
		"internal/engine/pack", "internal/engine/topology", "internal/engine/volume", "provisioning/progress"}
	cloud    = append([]string{"amiselect", "aws/...", "cloudprovider/..."}, contract...)
	anything = append([]string{"api/convert", "fake", "fake/catalog", "fake/kwok", "provisioning/advice", "disruption", "disruption/command", "disruption/compare", "disruption/drain", "disruption/fleet", "disruption/rollout", "edits", "metrics", "provisioning/nodeclaim", "provisioning/nodepool", "provisioning/nomination", "cloudprovider/cloudprovidertest", "report"}, append(engine, cloud...)...)
)

var layers = []layer{
	{"internal/structhash", nil,
		"hashing is arithmetic over Go values"},
	{"internal/golden", nil,
		"a text is compared with a file, whatever it says"},
	{"internal/corpus", append([]string{"internal/testlong"}, contract...),
		"an answer is hashed for what it is, whoever gave it"},
	{"internal/kubescheduler", append([]string{"internal/podlife", "provisioning"}, contract...),
		"it asks a program about inputs and plans, whoever made them"},
	{"internal/testlong", nil,
		"how long a test may take does not depend on what it tests"},
	{"internal/chance", nil,
		"numbers come from a seed, whatever they decide"},
	{"internal/fault", append([]string{"internal/chance"}, contract...),
		"a fault befalls a call by its name, whatever the call is"},
	{"internal/parallel", nil,
		"work is shared out to goroutines, whatever it is"},
	{"internal/order", nil,
		"what comes first is arithmetic, whatever is sorted"},
	{"internal/minors", nil,
		"in what versions of Kubernetes differ is a fact, whoever reads it"},
	{"internal/podterm", []string{"internal/minors"},
		"what a constraint says is read from the manifest, whoever asks"},
	{"edits", nil,
		"a patch follows from two objects of any kind"},
	{"internal/status", []string{"internal/quantity"},
		"a condition is set the same way, whatever it says"},
	{"internal/podlife", []string{"api/v1"},
		"what the life of a pod comes to is read from the pod, whoever asks"},
	{"internal/nodeindex", []string{"api/v1"},
		"which Node a claim has is read from the two, whoever asks"},
	{"internal/nodelimit", []string{"api/v1", "provisioning/resources"},
		"a limit is read from the pool, whoever keeps to it"},
	{"internal/podkey", []string{"internal/quantity"},
		"pods are told apart by what they say, whatever it is asked for"},
	{"internal/quantity", nil,
		"a text is told to be a number, whatever it measures"},
	{"internal/layout", nil,
		"a text is laid out on a page, whatever it says"},
	{"internal/spelling", nil,
		"two words are compared letter by letter, whatever they mean"},
	{"internal/textstream", nil,
		"a text is cut into documents before anybody knows what they hold"},
	{"api/v1", []string{"internal/quantity", "internal/spelling", "internal/structhash", "internal/textstream"},
		"the wire types are the bottom: a program that only reads manifests needs nothing else"},
	{"api/convert", []string{"api/v1", "aws/api/v1", "amiselect", "internal/textstream"},
		"old manifests become new ones without engine or cloud"},
	{"provisioning/resources", []string{"internal/minors"},
		"resource vectors are arithmetic and know nothing of pools or clouds"},
	{"provisioning/requirements", []string{"api/v1", "internal/order", "internal/spelling"},
		"the algebra reads NodePools and NodeClaims and nothing above them"},
	{"budgets", []string{"api/v1", "internal/order"},
		"a budget is counted from its manifest and the time alone"},
	{"cloudprovider", leaves,
		"a provider author must not have to build the engine"},
	{"cloudprovider/devicecel", contract,
		"the CEL interpreter is large, so only those who select devices build it"},
	{"cloudprovider/cloudprovidertest", append([]string{"cloudprovider/...", "fake", "fake/catalog"}, contract...),
		"the conformance suite judges a provider by the contract alone"},
	{"cloudprovider/...", append([]string{"cloudprovider/...", "internal/quantity", "internal/status"}, contract...),
		"the parts of the provider kit stand beside the contract"},
	{"provisioning/nomination", []string{"api/v1", "internal/nodeindex", "internal/podkey", "internal/podlife"},
		"promises are read from what stands in the cluster, whoever planned"},
	{"provisioning/progress", nil,
		"how far work has come is told whatever the work is"},
	{"provisioning/nodeclaim", append([]string{"cloudprovider/launch", "cloudprovider/retry", "internal/nodeindex", "internal/podlife", "internal/status"}, contract...),
		"the start of a node follows from its objects: the contract is seen, neither engine nor provider"},
	{"provisioning", append([]string{"cloudprovider/launch", "cloudprovider/overlay", "internal/minors", "internal/nodeindex", "internal/nodelimit", "internal/order", "internal/podlife", "internal/engine/catalog", "internal/engine/compile",
		"internal/engine/constraint/kinds", "internal/engine/explain", "internal/engine/faults", "internal/engine/model", "internal/engine/solve", "internal/engine/state", "internal/engine/static", "internal/engine/workload", "provisioning/progress"}, contract...),
		"the engine plans for any cloud: it sees the contract, never a provider"},
	{"provisioning/nodepool", append([]string{"internal/status", "provisioning"}, contract...),
		"the status of a pool follows from the pool and its usage, which the engine tells"},
	{"provisioning/verify", append([]string{"cloudprovider/overlay", "internal/minors", "internal/podlife", "provisioning", "provisioning/verify/internal/..."}, contract...),
		"the referee sees what a user of the engine sees, and none of its parts"},
	{"provisioning/verify/internal/...", append([]string{"internal/minors", "internal/podlife", "internal/quantity", "provisioning", "provisioning/verify/internal/..."}, contract...),
		"the parts of the referee see what it sees, and nothing of the engine"},
	{"provisioning/advice", append([]string{"internal/parallel", "internal/podlife", "provisioning", "provisioning/progress"}, contract...),
		"what a constraint costs is asked of the engine, as anybody may ask it"},
	{"provisioning/internal/scenes", append([]string{"provisioning", "fake"}, contract...),
		"it makes inputs and plans for tests, and so knows those but no part of the engine"},
	{"provisioning/internal/randproblem", append([]string{"provisioning", "fake"}, contract...),
		"it makes random problems for tests, and so knows the input but no part of the engine"},
	{"provisioning/internal/scenario", append([]string{"provisioning", "provisioning/verify", "fake", "fake/catalog"}, contract...),
		"it makes inputs for tests, and so knows those but no part of the engine"},
	{"internal/engine/model", append(above(), "internal/nodeindex"),
		"what all phases speak of is known before any of them"},
	{"internal/engine/catalog", append(above("model"), "cloudprovider/overlay"),
		"what is for sale is compiled whoever asks for it"},
	{"internal/engine/static", append(above("model", "catalog"), "cloudprovider/launch", "internal/nodelimit"),
		"a fixed number of nodes does not depend on pods"},
	{"internal/engine/constraint/kinds", append(above("model", "constraint/..."), "internal/podkey"),
		"the list of kinds is asked by all phases, and asks the kinds"},
	{"internal/engine/constraint/...", append(above("model", "constraint"), "internal/podkey", "internal/podterm"),
		"a kind of constraint sees one pod, and neither nodes nor another kind"},
	{"internal/engine/workload", append(above("model", "catalog", "constraint/..."), "internal/podkey", "internal/podterm"),
		"what pods ask for is read before anybody knows where they go"},
	{"internal/engine/compile", above("model", "catalog", "static", "constraint/...", "workload"),
		"a problem is compiled whatever tries to solve it"},
	{"internal/engine/attempt", above("model", "catalog", "workload", "compile"),
		"an attempt sees the problem, and nothing of the solution that is made of it"},
	{"internal/engine/explain", above("model", "catalog", "constraint/...", "workload", "compile", "attempt"),
		"reasons are found for what was decided, and decide nothing"},
	{"internal/engine/ledger", above("model", "catalog", "workload", "compile", "attempt"),
		"who may come where is judged whoever wants to go there"},
	{"internal/engine/repair", append(above("model", "catalog", "constraint/...", "workload", "compile", "attempt", "ledger"), "internal/chance"),
		"a solution is repaired whoever made it, and whatever becomes of it"},
	{"internal/engine/solve", above("model", "catalog", "workload", "compile", "attempt", "explain", "ledger", "repair"),
		"the solver sees all phases before it, and nothing of what is published"},
	{"internal/engine/state", above("model", "catalog", "workload", "compile", "ledger"),
		"pods are moved by those who decide, and counted as in a plan"},
	{"internal/engine/...", append(slices.Clone(parts), contract...),
		"the parts below the phases of the engine know none of them"},
	{"amiselect", contract,
		"choosing an image needs instance types, not the engine"},
	{"fake/catalog", append([]string{"aws/api/v1", "cloudprovider/kubelet", "internal/chance", "internal/textstream"}, contract...),
		"what is for sale is known without a cloud that sells it"},
	{"fake/kwok", append([]string{"aws/api/v1", "fake/catalog"}, contract...),
		"a cloud of Nodes that nothing stands behind is a provider like any other"},
	{"fake", append([]string{"amiselect", "aws/api/v1", "fake/catalog", "internal/chance", "internal/fault"}, contract...),
		"the fake cloud is a provider like any other and must not know who asks it"},
	{"disruption/command", []string{"api/v1", "internal/status"},
		"a command is carried out over its objects, whatever decided it"},
	{"disruption/rollout", []string{"api/v1", "budgets", "internal/order"},
		"waves are made of nodes that have drifted, whatever says so"},
	{"disruption/drain", []string{"api/v1", "internal/order", "internal/podlife", "internal/status"},
		"which pods go when is told by the pods and their budgets, whatever removes the node"},
	{"disruption/compare", append([]string{"disruption", "disruption/internal/words", "internal/layout", "internal/order", "internal/parallel", "internal/podlife"}, engine...),
		"what policies come to is asked of those who decide, as anybody may ask them"},
	{"disruption/fleet", append([]string{"disruption", "disruption/command", "disruption/drain", "internal/nodeindex", "internal/podlife", "internal/status", "provisioning/nodeclaim", "provisioning/nomination"}, engine...),
		"a cluster is read for those who decide and those who carry out, and by nobody among them"},
	{"disruption", append([]string{"disruption/command", "disruption/drain", "disruption/rollout", "provisioning/nodeclaim", "provisioning/nodeclaim", "disruption/internal/...", "internal/order", "internal/parallel", "internal/podkey", "internal/podlife", "internal/podterm", "internal/status"}, engine...),
		"disruption asks the engine and the budgets, and never a cloud"},
	{"disruption/internal/...", append([]string{"disruption/drain", "disruption/internal/...", "provisioning/nodeclaim", "internal/engine/bitset", "internal/engine/catalog", "internal/engine/compile", "internal/engine/faults", "internal/engine/model", "internal/engine/pack", "internal/engine/state", "internal/engine/topology", "internal/engine/workload", "internal/nodelimit", "internal/order", "internal/parallel", "internal/podkey", "internal/podlife", "internal/podterm", "internal/status"}, engine...),
		"disruption asks the engine and the budgets, and never a cloud"},
	{"report", append([]string{"provisioning/advice", "disruption", "disruption/compare", "aws/api/v1", "internal/layout", "internal/podlife", "internal/spelling"}, engine...),
		"decisions are written down whoever made them, and none is changed"},
	{"metrics", append([]string{"disruption", "disruption/command", "internal/podlife"}, engine...),
		"figures are made of decisions and objects, whoever collects them"},
	{"aws/api/v1", []string{"api/v1", "amiselect", "provisioning/requirements", "internal/quantity", "internal/structhash"},
		"the AWS wire type is readable without the AWS SDK"},
	{"aws/kubeletcel", []string{"aws/api/v1"},
		"the CEL interpreter is large, so only those whose classes have expressions build it"},
	{"aws/bootstrap", append([]string{"amiselect", "aws/api/v1", "internal/quantity"}, contract...),
		"user data is made from values"},
	{"aws/internal/interruption", append([]string{"aws/api/v1"}, contract...),
		"a message is parsed from bytes"},
	{"aws/nodecost", []string{"api/v1", "aws/api/v1", "aws/bootstrap"},
		"what a node costs is read off its class"},
	{"aws/classtypes", append([]string{"aws/api/v1", "aws/internal/instancetype", "aws/nodecost"}, append([]string{"cloudprovider/pricing"}, contract...)...),
		"what a class can launch follows from facts: no call is made, and no client needed"},
	{"aws/awstest", append([]string{"internal/fault"}, cloud...),
		"the AWS in memory answers as AWS does, and its scripts are written as those of the fake"},
	{"aws/...", append([]string{"internal/nodeindex", "internal/status", "internal/textstream", "provisioning/nodeclaim"}, cloud...),
		"the AWS provider implements the contract; the engine must not leak into it"},
	{"internal/simcluster", append([]string{"fake", "internal/order", "provisioning", "provisioning/nomination"}, contract...),
		"what Kubernetes does to objects is simulated, whoever else writes them"},
	{"internal/autoscaler", append([]string{"internal/simcluster"}, anything...),
		"the loop shows what a user can write, so it uses public packages only, on a simulated cluster"},
	{"internal/twodays", append([]string{"internal/simcluster"}, anything...),
		"a scenario is made of what a user can write, and happens to a simulated cluster"},
	{"examples/autoscaler", append([]string{"examples/...", "internal/autoscaler", "internal/simcluster", "internal/twodays"}, anything...),
		"it plays the loop and the scenario that benchmarks/day plays too"},
	{"examples/internal/browser", []string{"internal/testlong"},
		"it looks at pages, whatever program writes them"},
	{"examples/internal/output", []string{"internal/golden", "internal/testlong"},
		"what a program prints is compared with a file"},
	{"examples/internal/command", append([]string{"examples/...", "internal/layout", "internal/spelling"}, anything...),
		"flags are spelt and texts are set as in the library"},
	{"examples/internal/page", append([]string{"examples/...", "internal/layout"}, anything...),
		"a page has the amounts and the labels of the texts"},
	{"examples/internal/manifest", append([]string{"examples/...", "internal/layout", "internal/podlife", "internal/textstream"}, anything...),
		"it counts the documents of a dump as api/v1 does; pods have ended as for the library"},
	{"examples/whatif", append([]string{"examples/...", "internal/podlife"}, anything...),
		"its referee moves the pods that the engine moves"},
	{"examples/...", append([]string{"examples/..."}, anything...),
		"an example shows what a user can write, so it uses public packages only"},
	{"internal/policy", nil,
		"the policy tests read the source and run none of it"},
}

// above is what a phase of the engine may import that comes after others: these, the
// parts that know no phase, and the contract.
func above(phases ...string) []string {
	var out []string
	for _, p := range phases {
		out = append(out, "internal/engine/"+p)
	}
	return append(append(out, parts...), contract...)
}

// checkImports enforces the layers.
func checkImports(m *module) (found []finding) {
	for _, p := range m.packages {
		i := slices.IndexFunc(layers, func(l layer) bool { return matches(l.packages, p.rel) })
		if i < 0 {
			file, line := m.at(p.start())
			found = append(found, finding{file: file, line: line, subject: p.rel,
				message: fmt.Sprintf("package %s has no layer: say in layers what it may import, and why", p.rel)})
			continue
		}
		for _, spec := range p.imports(p.files) {
			if !m.has(spec.path) {
				continue
			}
			target := m.relative(spec.path)
			if slices.ContainsFunc(layers[i].may, func(pattern string) bool { return matches(pattern, target) }) {
				continue
			}
			file, line := m.at(spec.pos)
			found = append(found, finding{file: file, line: line, subject: p.rel + ":" + target,
				message: fmt.Sprintf("%s may not import %s: %s", p.rel, target, layers[i].why)})
		}
	}
	return found
}

// checkCompile reports packages that do not build. The other rules judge
// them by as much as could be read.
func checkCompile(m *module) (found []finding) {
	for _, p := range m.packages {
		found = append(found, p.faults...)
	}
	return found
}

// imported is one import of a file.
type imported struct {
	path string
	pos  token.Pos
}

// imports lists what files import, in the order of the source.
func (p *pkg) imports(files []*ast.File) (specs []imported) {
	for _, f := range files {
		for _, s := range f.Imports {
			path, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				continue // does not parse, so compile reports it
			}
			specs = append(specs, imported{path, s.Pos()})
		}
	}
	return specs
}

// start is where to report what concerns a package as a whole.
func (p *pkg) start() token.Pos {
	for _, files := range [][]*ast.File{p.files, p.tests} {
		if len(files) > 0 {
			return files[0].Package
		}
	}
	return 0
}
