package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// prepared returns the command of newTestCommand with the NodeClaims that it launches.
func prepared(t testing.TB) command.Prepared {
	t.Helper()
	c := newTestCommand(t, nil)
	p := command.Prepared{Command: c}
	for _, r := range c.Replacements {
		p.Claims = append(p.Claims, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: r.Token}})
	}
	return p
}

// applied returns an input after writes.
func applied(v command.Input, writes []command.Write) command.Input {
	for _, s := range writes {
		v = apply(v, s)
	}
	return v
}

// begun returns a command that a Book has begun, the input that it was begun for, and its writes.
func begun(t *testing.T) (command.Prepared, *command.Book, command.Input, []command.Write) {
	p, b := prepared(t), &command.Book{}
	v := lifeView(p.Command)
	writes, err := b.Begin(p.Command.CreatedAt, p, v)
	require.NoError(t, err)
	return p, b, v, writes
}

// A command is begun, carried on as Advance says, and over once it is not found any more.
func TestBookOfACommand(t *testing.T) {
	p, b, v, writes := begun(t)
	at := p.Command.CreatedAt
	want, err := command.Start(p.Command, v)
	require.NoError(t, err)
	require.Equal(t, want, writes)
	require.Equal(t, command.Round{}, b.Advance(at, nil, v), "the view is older")

	v = applied(v, writes)
	later := at.Add(time.Second)
	found := command.Recover(v).Commands
	require.Len(t, found, 1)
	round := b.Advance(later, found, v)
	require.Equal(t, command.Advance(later, p.Command, v).Writes, round.Writes)
	require.Empty(t, round.Finished)

	v = applied(v, round.Writes)
	for len(round.Writes) > 0 {
		round = b.Advance(later, command.Recover(v).Commands, v)
		v = applied(v, round.Writes)
	}
	for _, r := range p.Command.Replacements {
		created := lifeClaim(v, r.Token, func(c *command.Claim) { c.Initialized = true })
		require.Contains(t, fmt.Sprint(created.Claims), r.Token)
	}
	require.Equal(t, []string{p.Command.ID}, b.Advance(later, nil, v).Finished)
	require.Equal(t, command.Round{}, b.Advance(later, nil, v), "once")
}

// A replacement that this process saw and that is gone is not created again: the command
// is undone, which is told once.
func TestBookKnowsWhatWasCreated(t *testing.T) {
	p, b, v, writes := begun(t)
	at := p.Command.CreatedAt
	v = applied(v, writes)
	found := []command.Command{p.Command}
	for range 3 {
		v = applied(v, b.Advance(at.Add(time.Second), found, v).Writes)
	}
	lost := p.Command.Replacements[0].Token
	for i, c := range v.Claims {
		if c.Name == lost {
			v.Claims = append(v.Claims[:i:i], v.Claims[i+1:]...)
			break
		}
	}
	round := b.Advance(at.Add(2*time.Second), found, v)
	require.Len(t, round.Undone, 1)
	require.Equal(t, command.ReplacementLost, round.Undone[0].Why)
	for _, s := range round.Writes {
		require.NotEqual(t, command.WriteCreate, s.Kind, "%s", s)
	}
	require.Empty(t, b.Advance(at.Add(3*time.Second), found, v).Undone)

	var other command.Book // of another process, which has not seen it
	creates := false
	for _, s := range other.Advance(at.Add(2*time.Second), found, v).Writes {
		creates = creates || s.Kind == command.WriteCreate
	}
	require.Equal(t, len(p.Command.Claims()) > 0, creates)
}

// Of a command of which nothing could be written the start comes again, for a time.
func TestBookBeginsAgain(t *testing.T) {
	p, b, v, writes := begun(t)
	at := p.Command.CreatedAt
	require.Equal(t, writes, b.Advance(at.Add(time.Second), nil, v).Writes)
	round := b.Advance(at.Add(command.StartsWithin), nil, v)
	require.Empty(t, round.Writes)
	require.Equal(t, []string{p.Command.ID}, round.Finished)

	v.Claims = nil // what it was to remove is gone
	_, err := b.Begin(at, p, v)
	require.Error(t, err)
}

// TestBookOfAClockThatIsSetBack has a clock that is set back by an hour: the start is repeated for
// StartsWithin after that, and not for the hour.
func TestBookOfAClockThatIsSetBack(t *testing.T) {
	p, b, v, writes := begun(t)
	back := p.Command.CreatedAt.Add(-time.Hour)
	require.Equal(t, writes, b.Advance(back, nil, v).Writes)
	require.Equal(t, []string{p.Command.ID}, b.Advance(back.Add(command.StartsWithin), nil, v).Finished)
}

// Which pods a replacement is for is known to the process that began the command.
func TestBookKnowsPods(t *testing.T) {
	p := prepared(t)
	v := lifeView(p.Command)
	p.Pods = [][]*corev1.Pod{{{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}}
	var b command.Book
	_, err := b.Begin(p.Command.CreatedAt, p, v)
	require.NoError(t, err)
	for i, r := range p.Command.Replacements {
		claim, pods, of := b.Claim(p.Command.CreatedAt, command.Write{Kind: command.WriteCreate, Object: r.Token}, nil)
		require.Equal(t, r.Token, claim.Name)
		require.Equal(t, p.Command.ID, of.ID)
		require.Len(t, pods, max(1-i, 0), "of the first")
	}
}

// A command of another process is carried on by what its record has; without that it is
// undone.
func TestBookOfAnotherProcess(t *testing.T) {
	p := prepared(t)
	var b command.Book
	v := lifeStart(t, p.Command)
	found := []command.Command{p.Command}
	require.Empty(t, p.Command.Claims())
	round := b.Advance(p.Command.CreatedAt.Add(time.Second), found, v)
	require.Empty(t, round.Undone, "it is not of this process")
	for _, s := range round.Writes {
		require.NotEqual(t, command.WriteCreate, s.Kind, "%s", s)
	}
	create := command.Write{Kind: command.WriteCreate, Object: p.Command.Replacements[0].Token}
	claim, pods, _ := b.Claim(p.Command.CreatedAt, create, found)
	require.Nil(t, claim)
	require.Nil(t, pods)

	spec := commandSpec()
	for range spec.NodePools {
		spec.Claims = append(spec.Claims, &v1.NodeClaim{Spec: v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}}})
	}
	c, err := command.New(p.Command.CreatedAt, spec)
	require.NoError(t, err)
	create.Object = c.Replacements[0].Token
	claim, pods, of := b.Claim(c.CreatedAt, create, []command.Command{c})
	require.NotNil(t, claim)
	require.Nil(t, pods, "whose they are went with the other process")
	require.Equal(t, c.ID, of.ID)
	claim, _, _ = b.Claim(c.CreatedAt, command.Write{Kind: command.WriteDelete, Object: create.Object}, []command.Command{c})
	require.Nil(t, claim)
}

// A Book remembers what the objects do not say: here that a command has begun.
func ExampleBook() {
	c := exampleCommand()
	v := command.Input{Claims: []command.Claim{{Name: "web-old"}}, Nodes: []command.Node{{Name: "ip-10-0-0-1"}}}
	var b command.Book
	writes, err := b.Begin(c.CreatedAt, command.Prepared{Command: c}, v)
	fmt.Println(len(writes) > 0, err)

	v = applied(v, writes) // in its place: apply, and look again
	found := command.Recover(v).Commands
	round := b.Advance(c.CreatedAt.Add(time.Second), found, v)
	fmt.Println(len(found), len(round.Undone), len(round.Finished))
	fmt.Println(b.Advance(c.CreatedAt.Add(time.Minute), nil, v).Finished[0] == c.ID)
	// Output:
	// true <nil>
	// 1 0 0
	// true
}
