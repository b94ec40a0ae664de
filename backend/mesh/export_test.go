package mesh

// Apart says whether the devices of a machine turned out to have to be goroutines that send messages.
func (m *Machine) Apart() bool { return m.lockstep == nil || m.lockstep.apart }
