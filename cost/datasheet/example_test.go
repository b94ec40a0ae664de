package datasheet_test

import (
	"fmt"

	"autoshard/cost/datasheet"
)

func ExampleRead() {
	sheet, err := datasheet.Read("link.yaml", []byte("speed: {value: 4.5e10, kind: measured, source: run}\nsources: {run: a run of today}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	v := sheet.Values[0]
	fmt.Println(v.Path, v.Text, v.Kind, "by", v.Source)
	// Output: speed 4.5e10 measured by a run of today
}
