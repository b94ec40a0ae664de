package emit

// IsHelper says whether files share a function of that name.
func IsHelper(name string) bool { return helperNames[name] }
