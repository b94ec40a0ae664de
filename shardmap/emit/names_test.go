package emit

import "testing"

// Any name becomes an identifier that Python takes.
func TestIdentifier(t *testing.T) {
	for text, want := range map[string]string{
		"params['w1']": "params_w1", "result[0][1]['bias']": "result_0_1_bias", "lambda": "lambda", "0": "arg_0", "": "arg", "ä": "arg",
		"x y": "x_y", "__x__": "x", "opt_state/mu/0": "opt_state_mu_0",
	} {
		if got := identifier(text, "arg"); got != want {
			t.Errorf("identifier(%q) is %q, not %q", text, got, want)
		}
	}
	s := newScope()
	for _, want := range []string{"lambda_1", "lambda_2"} {
		if got := s.take("lambda"); got != want {
			t.Errorf("the name is %q, not %q", got, want)
		}
	}
}
