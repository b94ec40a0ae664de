package mesh

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// errStopped ends a device that waits when the run is over for another reason.
var errStopped = errors.New("stopped")

// stamp says what a message is for. The receiver expects an equal one.
type stamp struct {
	op      ir.OpID // 0 where devices run different programs
	kind    ir.Kind
	channel int64
	round   int64 // how often the sender had executed the op before
	step    int
	bytes   int
	pos     diag.Position
}

// message is the elements of a block on their way, which are not changed. They lie in a parcel, or belong to the receiver where there is
// none.
type message struct {
	stamp  stamp
	data   []byte
	parcel *parcel
}

// parcel is memory in which a device has put what it sends to several others. The last one that is done with it gives it back.
type parcel struct {
	data    []byte
	readers atomic.Int32
}

// parcels are those that everybody is done with.
var parcels = sync.Pool{New: func() any { return new(parcel) }}

// newParcel returns a parcel of memory that this device owns, for so many readers.
func newParcel(data []byte, readers int) *parcel {
	p := parcels.Get().(*parcel)
	p.data = data
	p.readers.Store(int32(readers))
	return p
}

// done says that one reader needs the parcel no longer.
func (p *parcel) done() {
	if p.readers.Add(-1) == 0 {
		memory.Give(p.data)
		p.data = nil
		parcels.Put(p)
	}
}

// queue holds what was sent on a lane and is not taken yet.
type queue struct {
	messages []message
	taken    int // of messages, which are empty
}

// first returns the next message, nil where there is none.
func (q *queue) first() *message {
	if q == nil || q.taken == len(q.messages) {
		return nil
	}
	return &q.messages[q.taken]
}

// take removes the next message.
func (q *queue) take() message {
	m := q.messages[q.taken]
	q.messages[q.taken] = message{}
	if q.taken++; q.taken == len(q.messages) {
		q.messages, q.taken = q.messages[:0], 0
	}
	return m
}

// lane is a queue of messages from one device to another, or of a channel that any device may read.
type lane struct {
	from, to int
	channel  int64
}

// anyDevice stands for both ends of a channel.
const anyDevice = -1

// network holds the mailboxes. A device either runs, waits at a lane, or has finished; when none runs, nothing can
// happen any more.
type network struct {
	mutex   sync.Mutex
	lanes   map[lane]*queue
	ports   []port
	running int
	over    bool
	stuck   error // the devices do not agree
}

// port is the state of one device.
type port struct {
	wake     *sync.Cond
	waiting  bool
	finished bool
	at       lane
	want     stamp
}

func newNetwork(devices int) *network {
	n := &network{lanes: map[lane]*queue{}, ports: make([]port, devices), running: devices}
	for id := range n.ports {
		n.ports[id].wake = sync.NewCond(&n.mutex)
	}
	return n
}

// stop wakes all devices and ends their waiting.
func (n *network) stop() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.over = true
	for id := range n.ports {
		n.ports[id].wake.Signal()
	}
}

// send puts a message on a lane.
func (n *network) send(l lane, m message) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	q := n.lanes[l]
	if q == nil {
		q = &queue{}
		n.lanes[l] = q
	}
	q.messages = append(q.messages, m)
	if l.to != anyDevice {
		n.rouse(l.to, l, q)
		return
	}
	for id := range n.ports {
		if n.rouse(id, l, q) {
			return
		}
	}
}

// rouse lets a device run that waits for what a lane holds.
func (n *network) rouse(id int, l lane, q *queue) bool {
	p := &n.ports[id]
	if !p.waiting || p.at != l || !p.ready(q) {
		return false
	}
	p.waiting = false
	n.running++
	p.wake.Signal()
	return true
}

// ready says whether the next message is the one that the device wants.
func (p *port) ready(q *queue) bool {
	m := q.first()
	return m != nil && m.stamp.matches(&p.want)
}

// matches says whether two stamps are equal, wherever their ops stand.
func (s *stamp) matches(t *stamp) bool {
	return s.op == t.op && s.kind == t.kind && s.channel == t.channel && s.round == t.round && s.step == t.step && s.bytes == t.bytes
}

// receive waits for the next message of a lane. A message for something else is never taken: the device waits until
// the run is over.
func (n *network) receive(id int, l lane, want stamp) (message, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	p := &n.ports[id]
	p.at, p.want = l, want
	if !n.over && !p.ready(n.lanes[l]) {
		p.waiting = true
		n.pause()
		for p.waiting && !n.over {
			p.wake.Wait()
		}
	}
	if n.over {
		return message{}, errStopped
	}
	return n.lanes[l].take(), nil
}

// finish takes a device out of the run.
func (n *network) finish(id int) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.ports[id].finished = true
	n.pause()
}

// pause counts a device that stopped running, and ends the run when it was the last.
func (n *network) pause() {
	n.running--
	if n.running > 0 || n.over {
		return
	}
	n.stuck = n.explain()
	if n.stuck == nil {
		return
	}
	n.over = true
	for id := range n.ports {
		n.ports[id].wake.Signal()
	}
}

// verdict returns what left the devices waiting, if anything.
func (n *network) verdict() error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.stuck
}

// listed bounds how many devices an error names.
const listed = 8

// explain describes who waits for what when no device runs; nil where all have finished and no message is left.
func (n *network) explain() error {
	var lines []string
	waiting := 0
	pos := diag.Position{}
	for id := range n.ports {
		p := &n.ports[id]
		if !p.waiting {
			continue
		}
		if waiting++; waiting == 1 {
			pos = p.want.pos
		}
		if waiting <= listed {
			lines = append(lines, fmt.Sprintf("device %d waits at %s %s", id, p.want.describe(), n.reason(p)))
		}
	}
	if waiting == 0 {
		return n.unread()
	}
	if waiting > listed {
		lines = append(lines, fmt.Sprintf("and %d more", waiting-listed))
	}
	return diag.Invalid(diag.BadInputs, pos, "the devices do not take part in the same collectives: %s", strings.Join(lines, "; "))
}

// reason says why a waiting device cannot go on.
func (n *network) reason(p *port) string {
	if m := n.lanes[p.at].first(); m != nil {
		s := &m.stamp
		if s.op == p.want.op && s.kind == p.want.kind && s.round == p.want.round && s.bytes != p.want.bytes {
			return fmt.Sprintf("for device %d, which sent %d bytes instead of %d", p.at.from, s.bytes, p.want.bytes)
		}
		return fmt.Sprintf("for device %d, which is at %s", p.at.from, s.describe())
	}
	if p.at.from == anyDevice {
		return fmt.Sprintf("for channel %d", p.at.channel)
	}
	if n.ports[p.at.from].finished {
		return fmt.Sprintf("for device %d, which has finished", p.at.from)
	}
	return fmt.Sprintf("for device %d", p.at.from)
}

// unread reports messages that nobody took.
func (n *network) unread() error {
	first, found := lane{}, false
	for l, q := range n.lanes {
		if q.first() != nil && (!found || l.before(first)) {
			first, found = l, true
		}
	}
	if !found {
		return nil
	}
	s := n.lanes[first].first().stamp
	if first.to == anyDevice {
		return diag.Invalid(diag.BadInputs, s.pos, "what was sent at %s on channel %d is never received", s.describe(), first.channel)
	}
	return diag.Invalid(diag.BadInputs, s.pos,
		"the devices do not take part in the same collectives: device %d has finished, device %d sent to it at %s",
		first.to, first.from, s.describe())
}

func (l lane) before(o lane) bool {
	if l.from != o.from {
		return l.from < o.from
	}
	if l.to != o.to {
		return l.to < o.to
	}
	return l.channel < o.channel
}

// describe names the op that a message belongs to.
func (s stamp) describe() string {
	text := s.kind.String()
	if s.pos.Line != 0 {
		text += fmt.Sprintf(" (line %d)", s.pos.Line)
	}
	if s.round > 0 {
		text += fmt.Sprintf(" for the %s time", ordinal(s.round+1))
	}
	return text
}

func ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}
