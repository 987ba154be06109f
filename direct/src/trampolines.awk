# From names.txt (a function a line, how many words of its arguments lie on the stack, and "-" where it needs no gate): an entry for each driver function and spare ones for functions that are only known by their address.
# -v part=asm: assembler (what an entry does: gate.S); -v part=names: a C header.
{ name[NR - 1] = $1; words[NR - 1] = $2; free[NR - 1] = $3 == "-" }
END {
    spares = 512
    if (part == "names") {
        printf "enum { NAMES = %d, ENTRIES = %d };\n#define NAME_LIST", NR, NR + spares
        for (i = 0; i < NR; i++) printf " \\\n    \"%s\",", name[i]
        print ""
        exit
    }
    print "#include \"gate.S\"\n    .text"
    for (i = 0; i < NR + spares; i++) {
        if (i < NR) printf ".globl %s\n.type %s,@function\n.p2align 6\n%s:\n", name[i], name[i], name[i]
        else print ".p2align 6"
        if (free[i]) printf ".Lentry%d:\n    GATE_FREE %d\n", i, i
        else printf ".Lentry%d:\n    GATE_ENTRY %d, %d\n", i, i, i < NR ? words[i] : 12
    }
    print ".section .data.rel.ro,\"aw\"\n.p2align 3\n.globl gate_entry\n.hidden gate_entry\ngate_entry:"
    for (i = 0; i < NR + spares; i++) printf "    .quad .Lentry%d\n", i
    print ".section .note.GNU-stack,\"\",@progbits"
}
