// Module external is a program outside of autoshard that uses it as a library. It compiles and runs in TestExternalModule.
module example.com/external

go 1.26

require autoshard v0.0.0

replace autoshard => ../..
