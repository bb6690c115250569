package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// The model is a small world: the objects of one command as an API server would
// hold them, a controller that carries out the writes of Advance one by one in
// any order, and everything that can happen in between. All states that can be
// reached are visited.

// life of an object.
const (
	modelAbsent uint8 = iota
	modelStarting
	modelAlive // of a replacement: initialized
	modelDeleting
	modelMachineless // deleting, machine gone, held
)

// unlimited is a number of faults.
const modelUnlimited = 255

// records of a NodeClaim to remove.
const (
	modelUnrecorded uint8 = iota
	modelRecorded
	modelUndoing
)

type modelSource struct {
	claim, record         uint8
	reason, held, bounded bool
	node                  uint8
	nodeRecorded          bool // taint and record come and go together
}

type modelReplacement struct {
	life           uint8
	recorded, pods bool
}

// modelWorld is comparable: it is the key of the states visited.
type modelWorld struct {
	sources  [2]modelSource
	replaced [2]modelReplacement
	clock    uint8 // 0 in time, 1 past the deadline, 2 long past it
	// What the controller has in memory.
	created   [2]bool
	cancelled bool
	pending   [6]uint8
	// late is a request that the controller sent before it crashed, and that
	// arrives later, if its object is as it was.
	late, lateObject uint8
	faults           uint8 // how many may still happen
	// undone is whether the decision to undo the command was written down
	// wherever a node had a record or was about to get one.
	undone bool
}

// codes of writes in pending.
const (
	codeNone uint8 = iota
	codeRecord
	codeUndo
	codeHold
	codeReason
	codeTaint
	codeCreate
	codeBound
	codeDelete
	codeUntaint
	codeClearReason
	codeUnhold
	codeRelease
)

type lifeModel struct {
	t       *testing.T
	c       command.Command
	records [3]string
	instant [3]time.Time
	plans   map[modelWorld]modelPlan // by world without pending and late
}

type modelPlan struct {
	pending  [6]uint8
	finished bool
}

func newLifeModel(t *testing.T, mode command.Mode, sources, replacements int, bounded bool) *lifeModel {
	spec := command.Spec{Reason: v1.DisruptionReasonDrifted, Mode: mode}
	for i := range sources {
		s := command.Source{NodeClaim: fmt.Sprint("claim", i), Node: fmt.Sprint("node", i), Bounded: true}
		if bounded {
			drain := time.Minute
			s.Drain = &drain
		}
		spec.Sources = append(spec.Sources, s)
	}
	for range replacements {
		spec.NodePools = append(spec.NodePools, "default")
	}
	c, err := command.New(commandStart, spec)
	require.NoError(t, err)
	return &lifeModel{t: t, c: c, plans: map[modelWorld]modelPlan{},
		records: [3]string{"", command.Record{Command: c}.String(),
			command.Record{Command: c, Failure: command.Cancelled}.String()},
		instant: [3]time.Time{commandStart, c.Deadline, c.Deadline.Add(time.Hour)}}
}

func (m *lifeModel) first() modelWorld {
	var w modelWorld
	for i := range m.c.Sources {
		w.sources[i].claim, w.sources[i].node = modelAlive, modelAlive
	}
	return w
}

// input is what the API server would show.
func (m *lifeModel) view(w *modelWorld) command.Input {
	var v command.Input
	for i, s := range w.sources[:len(m.c.Sources)] {
		if s.claim != modelAbsent {
			c := command.Claim{Name: m.c.Sources[i].NodeClaim, Record: m.records[s.record], Held: s.held, Pods: 1,
				Deleting: s.claim >= modelDeleting, Terminated: s.claim == modelMachineless, Initialized: true}
			if s.reason {
				c.Reason = m.c.Reason
			}
			if s.bounded {
				c.DrainBy = m.c.CreatedAt
			}
			v.Claims = append(v.Claims, c)
		}
		if s.node != modelAbsent {
			n := command.Node{Name: m.c.Sources[i].Node, Tainted: s.nodeRecorded, Deleting: s.node == modelDeleting}
			if s.nodeRecorded {
				n.Record = m.records[modelRecorded]
			}
			v.Nodes = append(v.Nodes, n)
		}
	}
	for i, r := range w.replaced[:len(m.c.Replacements)] {
		if w.created[i] {
			v.Created = append(v.Created, m.c.Replacements[i].Token)
		}
		if r.life == modelAbsent {
			continue
		}
		c := command.Claim{Name: m.c.Replacements[i].Token, Initialized: r.life == modelAlive, Deleting: r.life == modelDeleting}
		if r.recorded {
			c.Record = m.records[modelRecorded]
		}
		if r.pods {
			c.Pods = 1
		}
		v.Claims = append(v.Claims, c)
	}
	if w.cancelled {
		v.Cancel = "asked to"
	}
	return v
}

// object returns the place of a write's object in pending.
func (m *lifeModel) object(s command.Write) int {
	for i := range m.c.Sources {
		if s.OnNode() && m.c.Sources[i].Node == s.Object {
			return 2 + i
		}
		if !s.OnNode() && m.c.Sources[i].NodeClaim == s.Object {
			return i
		}
	}
	for i := range m.c.Replacements {
		if m.c.Replacements[i].Token == s.Object {
			return 4 + i
		}
	}
	require.Fail(m.t, "write for an object of nobody", s.String())
	return 0
}

func (m *lifeModel) code(s command.Write) uint8 {
	switch s.Kind {
	case command.WriteRecord:
		if s.Record != m.records[modelRecorded] {
			return codeUndo
		}
		return codeRecord
	default:
		return map[command.WriteKind]uint8{
			command.WriteHold: codeHold, command.WriteReason: codeReason, command.WriteTaint: codeTaint,
			command.WriteCreate: codeCreate, command.WriteBound: codeBound, command.WriteDelete: codeDelete,
			command.WriteUntaint: codeUntaint, command.WriteClearReason: codeClearReason,
			command.WriteUnhold: codeUnhold, command.WriteRelease: codeRelease}[s.Kind]
	}
}

// apply is what the server does with a request. It is written without the function apply,
// and checkWrite compares the two.
func (m *lifeModel) apply(w *modelWorld, object int, code uint8) {
	switch {
	case object >= 4:
		r := &w.replaced[object-4]
		switch {
		case code == codeCreate:
			if r.life == modelAbsent {
				*r = modelReplacement{life: modelStarting, recorded: true}
			}
		case r.life == modelAbsent:
		case code == codeDelete:
			r.life = modelDeleting
		case code == codeRelease:
			r.recorded = false
		}
	case object >= 2:
		if s := &w.sources[object-2]; s.node != modelAbsent {
			s.nodeRecorded = code == codeTaint
		}
	default:
		m.applyClaim(&w.sources[object], code)
		if code == codeUndo && w.sources[object].claim == modelAlive {
			w.undone = w.late != codeRecord
			for i, s := range w.sources {
				w.undone = w.undone && w.pending[i] != codeRecord && (s.claim != modelAlive || s.record != modelRecorded)
			}
		}
	}
}

func (m *lifeModel) applyClaim(s *modelSource, code uint8) {
	if s.claim == modelAbsent {
		return
	}
	switch code {
	case codeRecord:
		s.record = modelRecorded
	case codeUndo:
		s.record = modelUndoing
	case codeRelease:
		s.record = modelUnrecorded
	case codeHold:
		s.held = s.held || s.claim == modelAlive
	case codeUnhold:
		s.held = false
		if s.claim == modelMachineless {
			m.goneClaim(s)
		}
	case codeReason:
		s.reason = true
	case codeClearReason:
		s.reason = false
	case codeBound:
		s.bounded = true
	case codeDelete:
		s.claim = max(s.claim, modelDeleting)
	}
}

func (m *lifeModel) goneClaim(s *modelSource) {
	*s = modelSource{node: s.node, nodeRecorded: s.nodeRecorded}
}

// plan asks Advance, or once the command is finished Recover for what is
// left to sweep.
func (m *lifeModel) plan(w modelWorld) modelPlan {
	w.pending, w.late, w.lateObject, w.faults = [6]uint8{}, 0, 0, 0
	if p, ok := m.plans[w]; ok {
		return p
	}
	v := m.view(&w)
	progress := command.Advance(m.instant[w.clock], m.c, v)
	writes := progress.Writes
	p := modelPlan{finished: progress.State == command.Finished}
	recovery := command.Recover(v)
	require.NoError(m.t, recovery.Faults)
	if p.finished {
		require.Empty(m.t, recovery.Commands, "recovery finds a finished command: %+v", w)
		writes = recovery.Writes
	} else {
		require.Equal(m.t, []command.Command{m.c}, recovery.Commands, "recovery loses the command: %+v", w)
	}
	for _, s := range writes {
		at := m.object(s)
		require.Zero(m.t, p.pending[at], "two writes for one object: %+v: %v", w, writes)
		p.pending[at] = m.code(s)
		m.checkWrite(w, s, at, p.pending[at])
	}
	m.plans[w] = p
	return p
}

// checkWrite holds for every write in every state in which it is proposed.
func (m *lifeModel) checkWrite(w modelWorld, s command.Write, at int, code uint8) {
	once := w
	m.apply(&once, at, code)
	require.NotEqual(m.t, w, once, "a write without effect is proposed for ever: %+v: %s", w, s)
	twice := once
	m.apply(&twice, at, code)
	require.Equal(m.t, once, twice, "not idempotent: %+v: %s", w, s)
	// The model does not keep instants, reasons of a failure, and what a
	// NodeClaim was that is being deleted.
	abstract := code == codeBound || code == codeUndo || code == codeDelete && at >= 4 ||
		code == codeUnhold && once.sources[at].claim == modelAbsent
	if len(m.plans)%64 == 0 && !abstract {
		require.ElementsMatch(m.t, m.view(&once).Claims, apply(m.view(&w), s).Claims, "apply differs: %s", s)
		require.ElementsMatch(m.t, m.view(&once).Nodes, apply(m.view(&w), s).Nodes, "apply differs: %s", s)
	}
	forward := code == codeRecord || code == codeTaint || code == codeDelete && at < 2
	require.False(m.t, w.undone && forward, "what is undone goes on: %+v: %s", w, s)
	replaceFirst := m.c.Mode == command.ReplaceFirst
	for i, r := range w.replaced[:len(m.c.Replacements)] {
		if code == codeDelete && at < 2 && replaceFirst {
			require.Equal(m.t, modelAlive, r.life, "a node is deleted without replacement %d: %+v", i, w)
		}
	}
	for _, o := range w.sources[:len(m.c.Sources)] {
		if code == codeCreate && replaceFirst && o.claim == modelAlive {
			require.True(m.t, o.record == modelRecorded && o.nodeRecorded || o.node != modelAlive, "launched before all is marked: %+v", w)
		}
		if code == codeCreate && !replaceFirst {
			require.Contains(m.t, []uint8{modelAbsent, modelMachineless}, o.claim, "launched beside a node: %+v", w)
		}
		if code == codeDelete && at >= 4 {
			require.Equal(m.t, modelAlive, o.claim, "a replacement is deleted though a node is lost: %+v", w)
		}
	}
	if code == codeDelete && at >= 4 {
		require.False(m.t, w.replaced[at-4].pods, "a replacement with pods is deleted: %+v", w)
	}
}

// progress are the states that follow if nothing goes wrong.
func (m *lifeModel) progress(w modelWorld, visit func(modelWorld)) {
	busy := false
	for at, code := range w.pending {
		if code != codeNone {
			busy = true
			n := w
			n.pending[at] = codeNone
			m.apply(&n, at, code)
			m.change(&n, at)
			if code == codeCreate && n.replaced[at-4].life != modelAbsent {
				n.created[at-4] = true
			}
			visit(n)
		}
	}
	if !busy {
		if p := m.plan(w); p.pending != w.pending {
			n := w
			n.pending = p.pending
			visit(n)
		}
	}
	if w.clock < 2 {
		n := w
		n.clock++
		visit(n)
	}
	for i := range m.c.Sources {
		m.terminate(w, i, visit)
	}
	for i, r := range w.replaced {
		n := w
		next := &n.replaced[i]
		switch {
		case r.life == modelStarting:
			next.life = modelAlive
		case r.life == modelAlive && !r.pods:
			next.pods = true
		case r.life == modelDeleting:
			*next = modelReplacement{}
		default:
			continue
		}
		m.change(&n, 4+i)
		visit(n)
	}
}

// terminate is what the finalizers of a NodeClaim and its Node do.
func (m *lifeModel) terminate(w modelWorld, i int, visit func(modelWorld)) {
	n := w
	s := &n.sources[i]
	switch {
	case s.node == modelDeleting:
		s.node, s.nodeRecorded = modelAbsent, false
		m.change(&n, 2+i)
	case s.claim != modelDeleting:
		return
	case s.node == modelAlive:
		s.node = modelDeleting
		m.change(&n, 2+i)
	default:
		if s.held {
			s.claim = modelMachineless
		} else {
			m.goneClaim(s)
		}
		m.change(&n, i)
	}
	visit(n)
}

// change drops a late request whose object has changed, as the version that it
// names as a precondition does. A creation names none.
func (m *lifeModel) change(w *modelWorld, object int) {
	if int(w.lateObject) == object && w.late != codeCreate {
		w.late, w.lateObject = codeNone, 0
	}
}

// faults are the states that follow if something goes wrong.
func (m *lifeModel) faults(w modelWorld, visit func(modelWorld)) {
	if w.faults == 0 {
		return
	}
	if w.faults != modelUnlimited {
		w.faults--
	}
	crashed := w
	crashed.pending, crashed.created, crashed.cancelled = [6]uint8{}, [2]bool{}, false
	visit(crashed)
	if w.late == codeNone {
		for at, code := range w.pending {
			if code != codeNone {
				n := crashed
				n.late, n.lateObject = code, uint8(at)
				visit(n)
			}
		}
	} else {
		n := w
		n.late, n.lateObject = codeNone, 0
		m.apply(&n, int(w.lateObject), w.late)
		// A start that arrives late is a start.
		n.undone = n.undone && w.late != codeRecord
		visit(n)
	}
	if !w.cancelled {
		n := w
		n.cancelled = true
		visit(n)
	}
	for i, s := range w.sources {
		if s.claim == modelAlive { // deleted by somebody else
			n := w
			n.sources[i].claim = modelDeleting
			m.change(&n, i)
			visit(n)
		}
		if s.claim != modelAbsent { // finalizers removed by hand
			n := w
			m.goneClaim(&n.sources[i])
			m.change(&n, i)
			visit(n)
		}
		if s.claim == modelAlive && s.record != modelUnrecorded { // record removed by hand
			n := w
			n.sources[i].record = modelUnrecorded
			m.change(&n, i)
			visit(n)
		}
		if s.node != modelAbsent {
			n := w
			n.sources[i].node, n.sources[i].nodeRecorded = modelAbsent, false
			m.change(&n, 2+i)
			visit(n)
		}
	}
	for i, r := range w.replaced {
		if r.life == modelStarting || r.life == modelAlive {
			n := w
			n.replaced[i] = modelReplacement{}
			m.change(&n, 4+i)
			visit(n)
			n.replaced[i] = r
			n.replaced[i].life = modelDeleting
			visit(n)
		}
	}
}

// checkEnd holds wherever nothing more happens.
func (m *lifeModel) checkEnd(w modelWorld) {
	require.True(m.t, m.plan(w).finished, "stuck: %+v", w)
	all := true
	for _, s := range w.sources[:len(m.c.Sources)] {
		all = all && s.claim == modelAlive
		require.False(m.t, s.node != modelAbsent && s.nodeRecorded, "a taint is left: %+v", w)
		require.Contains(m.t, []uint8{modelAbsent, modelAlive}, s.claim, "%+v", w)
		require.False(m.t, s.held || s.reason || s.record != modelUnrecorded, "a mark is left: %+v", w)
	}
	for _, r := range w.replaced {
		require.False(m.t, r.life != modelAbsent && r.recorded, "a replacement is left that nobody looks after: %+v", w)
		require.False(m.t, all && r.life != modelAbsent && !r.pods, "a replacement replaces nothing: %+v", w)
	}
}

// explore visits all states and proves that after the last fault the command
// comes to an end whatever the order in which things happen: without faults
// there is no way back to a state, and no way on only at the end.
func (m *lifeModel) explore(faults uint8) (states int) {
	const open, done = 1, 2
	marks := map[modelWorld]uint8{}
	var todo []modelWorld
	add := func(w modelWorld) {
		if marks[w] == 0 {
			todo = append(todo, w)
		}
	}
	type frame struct {
		w    modelWorld
		next []modelWorld
	}
	walk := func(from modelWorld) {
		if marks[from] != 0 {
			return
		}
		var stack []frame
		enter := func(w modelWorld) {
			marks[w] = open
			f := frame{w: w}
			m.progress(w, func(n modelWorld) { f.next = append(f.next, n) })
			if len(f.next) == 0 {
				m.checkEnd(w)
			}
			m.faults(w, add)
			stack = append(stack, f)
		}
		for enter(from); len(stack) > 0; {
			f := &stack[len(stack)-1]
			if len(f.next) == 0 {
				marks[f.w] = done
				stack = stack[:len(stack)-1]
				continue
			}
			n := f.next[len(f.next)-1]
			f.next = f.next[:len(f.next)-1]
			switch marks[n] {
			case open:
				require.Fail(m.t, "goes round in circles", "%+v", n)
			case 0:
				enter(n)
			}
		}
	}
	w := m.first()
	w.faults = faults
	writes, err := command.Start(m.c, m.view(&w))
	require.NoError(m.t, err)
	for _, s := range writes {
		at := m.object(s)
		w.pending[at] = m.code(s)
	}
	todo = append(todo, w)
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		walk(next)
	}
	return len(marks)
}

var commandStart = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func TestEveryInterleaving(t *testing.T) {
	t.Parallel()
	const replace, terminate = command.ReplaceFirst, command.TerminateFirst
	for _, c := range []struct {
		mode                  command.Mode
		sources, replacements int
		faults                uint8
	}{
		{replace, 1, 0, modelUnlimited}, {replace, 1, 1, modelUnlimited}, {replace, 1, 2, 1},
		{replace, 2, 0, 2}, {replace, 2, 1, 1}, {replace, 2, 2, 1},
		{terminate, 1, 0, modelUnlimited}, {terminate, 1, 1, modelUnlimited}, {terminate, 1, 2, modelUnlimited},
		{terminate, 2, 0, 2}, {terminate, 2, 1, 2}, {terminate, 2, 2, 1},
	} {
		t.Run(fmt.Sprintf("%s/sources=%d/replacements=%d/faults=%d", c.mode, c.sources, c.replacements, c.faults), func(t *testing.T) {
			switch {
			case testlong.On():
			case c.sources+c.replacements == 4 && c.mode == replace:
				c.faults = 0 // with one fault it takes as long as all others together
			default:
				c.faults = min(c.faults, 1)
			}
			m := newLifeModel(t, c.mode, c.sources, c.replacements, c.sources == 1)
			t.Logf("%d states", m.explore(c.faults))
		})
	}
}
