// Package certify checks lower bounds of selection problems without any code of the solver that found them.
//
// A certificate (docs/certificate.md) is a list of steps that shrink a problem without losing a solution that is cheaper than the one
// attached, and then numbers from which a bound for what is left follows by taking minima. [Verify] replays the steps on the problem's own
// JSON, checks the condition of each, and adds up integers; nothing that the certificate says has to be believed.
//
// Two nodes, each of which can be cheap (0) or dear (3), and a table that costs 10 when both choose alike: the certificate
//
//	{"format": "autoshard-bound-1", "sha256": "…", "upper": 3, "solution": [0, 1],
//	 "log": [["e", 1], ["b", 0]], "tree": null, "blocks": [{"q": 0, "lambda": [], "mu": []}], "claim": "3"}
//
// eliminates node 1: node 0 then costs 0+min(0+10, 3+0) = 3 or 3+min(0+0, 3+10) = 3. The least of these is the bound, 3.
package certify
