// Package browser has the tests of the page in real Chromium, and makes the pictures of docs/review.md:
//
//	go test -C tools ./browser            # from the root of the repository
//	go test -C tools ./browser -pictures  # writes docs/review/*.webp
//
// They are skipped, with a message, where no Chromium is found: AUTOSHARD_CHROMIUM names one, else it is looked for. What needs models that
// are not in examples needs AUTOSHARD_SHARED.
package browser
