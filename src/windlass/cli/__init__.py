"""The command line: thin commands, one file per noun. They translate and decide nothing."""
