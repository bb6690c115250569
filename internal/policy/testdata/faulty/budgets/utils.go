package budgets // want files: the name utils.go does not say what is in it
