package inputs_test

import (
	"fmt"

	"autoshard/answer"
	"autoshard/program/inputs"
)

func ExampleRandom() {
	list, err := inputs.Random([]answer.Tensor{{Name: "tokens", Type: "i32[2,3]"}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(list[0].DType, list[0].Shape)
	// Output: i32 [2 3]
}
