package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/trace"
)

// page is a part of the steps of a trace, which are numbered through all its levels.
type page struct {
	from  int
	size  int    // 0: all steps
	token string // of the request
}

// pageOf returns the part that a request asks for.
func pageOf(r *autoshardv1.PropagateRequest) (page, error) {
	p := page{size: int(r.GetPageSize())}
	if p.size == 0 && r.GetPageToken() == "" {
		return p, nil
	}
	var err error
	if p.token, err = requestToken(r); err != nil || r.GetPageToken() == "" {
		return p, err
	}
	of, number, _ := strings.Cut(r.GetPageToken(), "-")
	if p.from, err = strconv.Atoi(number); err != nil || p.from <= 0 || of != p.token {
		return p, invalid("`pageToken` is none of this request: all but it has to be as for the page before")
	}
	return p, nil
}

// requestToken returns what tells a request from others, whatever page it asks for.
func requestToken(r *autoshardv1.PropagateRequest) (string, error) {
	plain := proto.CloneOf(r)
	plain.PageToken = ""
	hash, err := hashOf(plain)
	return hash[:16], err
}

// span is a run of steps, from the first to the one behind the last.
type span struct{ first, end int }

// begins says whether a round or level of these steps begins on a page, of a trace with so many steps. One without steps does where the
// next step is, or with the last.
func (p page) begins(s span, steps int) bool {
	end := p.from + p.size
	return p.size == 0 || s.first >= p.from && (s.first < end || s.first == steps && end >= steps)
}

// cut returns the part of a run of steps that is on the page.
func (p page) cut(s span) span {
	if p.size == 0 {
		return s
	}
	first := min(max(s.first, p.from), s.end)
	return span{first, max(first, min(s.end, p.from+p.size))}
}

// of returns the part of a trace that is on the page, and the token of the next page, "" where there is none.
func (p page) of(ctx context.Context, t *trace.Document) (*autoshardv1.Trace, string, error) {
	steps := 0
	for i := range t.Rounds {
		steps += stepsOf(&t.Rounds[i])
	}
	out, at := &autoshardv1.Trace{}, 0
	for i := range t.Rounds {
		round, all := &t.Rounds[i], span{at, at + stepsOf(&t.Rounds[i])}
		at = all.end
		here := p.cut(all)
		begins := p.begins(all, steps)
		if !begins && here.first == here.end {
			continue
		}
		message := &autoshardv1.Trace_Round{UserPriority: round.UserPriority}
		if begins {
			message.Summary = &autoshardv1.Trace_Summary{}
			if err := convert(&round.Summary, message.Summary); err != nil {
				return nil, "", err
			}
		}
		if err := p.levels(ctx, round, all.first, steps, message); err != nil {
			return nil, "", err
		}
		out.Rounds = append(out.Rounds, message)
	}
	if end := p.from + p.size; p.size > 0 && end < steps {
		return out, fmt.Sprintf("%s-%d", p.token, end), nil
	}
	return out, "", nil
}

// stepsOf counts the steps of a round.
func stepsOf(r *trace.Round) (n int) {
	for i := range r.Levels {
		n += len(r.Levels[i].Steps)
	}
	return n
}

// levels adds to a round the parts of its levels that are on the page. At is the number of its first step, of so many steps.
func (p page) levels(ctx context.Context, round *trace.Round, at, steps int, to *autoshardv1.Trace_Round) error {
	for i := range round.Levels {
		level, all := &round.Levels[i], span{at, at + len(round.Levels[i].Steps)}
		at = all.end
		here := p.cut(all)
		begins := p.begins(all, steps)
		if !begins && here.first == here.end {
			continue
		}
		message := &autoshardv1.Trace_Level{OpPriority: int32(level.OpPriority), First: int32(here.first - all.first)}
		err := pieces(ctx, level.Steps[here.first-all.first:here.end-all.first], func(list []trace.Step) any { return &trace.Level{Steps: list} },
			(*autoshardv1.Trace_Level).GetSteps, &message.Steps)
		if begins {
			err = cmp.Or(err, pieces(ctx, level.Groups, func(list []trace.Group) any { return &trace.Level{Groups: list} },
				(*autoshardv1.Trace_Level).GetGroups, &message.Groups))
		}
		if err != nil {
			return err
		}
		to.Levels = append(to.Levels, message)
	}
	return nil
}
