module front

go 1.24
