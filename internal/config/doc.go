// Package config reads the options of the command line: flags before AUTOSHARD_* environment variables before a
// configuration file before defaults.
//
// One table (keys.go) lists every option with its flag, default and help. A command names the options it has, and
// loads typed values:
//
//	config.AddFlags(cmd.Flags(), "mesh", "memory")
//	c, err := config.Load(cmd.Flags())  // with --mesh data=4,model=2 --memory 16GiB
//	c.Mesh                              // [{data 4} {model 2}]
//	c.Memory                            // 17179869184
//
// The configuration file is autoshard.yaml, .yml, .toml or .json in the working directory, or that of --config:
//
//	mesh: [{name: data, size: 4}, {name: model, size: 2}]
//	hardware: tpu-v5e
//	serve:
//	  listen: 127.0.0.1:8080
//
// Unknown keys are errors. Every error says where the value came from: the flag, the variable, or a line of the file.
// The package is the only importer of viper.
package config
