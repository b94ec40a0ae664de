package peer_test

import (
	"context"
	"fmt"

	"autoshard/internal/testkit/peer"
	"autoshard/ir/dtype"
)

// Without a program nothing is started.
func ExampleAsk() {
	replies, err := peer.Ask(context.Background(), "python3", peer.XLA, nil)
	fmt.Println(len(replies), err)
	one := peer.Array{Type: dtype.F32, Data: []byte{0, 0, 0x80, 0x3f}}
	fmt.Println(one.Type, len(one.Shape))
	// Output:
	// 0 <nil>
	// f32 0
}
