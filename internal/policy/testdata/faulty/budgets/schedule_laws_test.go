package budgets_test // want files: the name schedule_laws_test.go does not say what is in it
