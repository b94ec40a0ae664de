// Package lists makes lists of other lists and of numbers: what package slices lacks.
package lists

import (
	"slices"
	"strings"
)

type integer interface {
	~int | ~int32 | ~int64 | ~uint8
}

// Map returns what f makes of every element.
func Map[T, R any](list []T, f func(T) R) []R {
	out := make([]R, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

// Of returns the n values f(0), f(1) and so on.
func Of[R any](n int, f func(int) R) []R {
	out := make([]R, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// Filter returns the elements that pass a test.
func Filter[T any](list []T, test func(T) bool) (out []T) {
	for _, e := range list {
		if test(e) {
			out = append(out, e)
		}
	}
	return out
}

// Range returns the numbers from 0 to n-1.
func Range[I, N integer](n N) []I { return Of(int(n), func(i int) I { return I(i) }) }

// Pick returns the elements at some places.
func Pick[T any, I integer](list []T, at []I) []T { return Map(at, func(i I) T { return list[i] }) }

// Others returns the numbers from 0 to n-1 that are in no list.
func Others(n int, without ...[]int64) []int64 {
	out := make([]int64, 0, n)
	for d := range int64(n) {
		if !slices.ContainsFunc(without, func(list []int64) bool { return slices.Contains(list, d) }) {
			out = append(out, d)
		}
	}
	return out
}

// Inverse returns the inverse of a permutation.
func Inverse(perm []int64) []int64 {
	out := make([]int64, len(perm))
	for i, p := range perm {
		out[p] = int64(i)
	}
	return out
}

// Product returns the product of numbers, 1 for none.
func Product[I integer](list []I) I {
	n := I(1)
	for _, e := range list {
		n *= e
	}
	return n
}

// Joined returns the texts of elements with commas between them.
func Joined[T any](list []T, text func(T) string) string { return strings.Join(Map(list, text), ", ") }
