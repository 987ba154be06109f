/*
 * The way of a call through the gate. The slot of the thread says that the thread is inside; a plain store, since who closes
 * the gate makes every thread pass a barrier. The driver's function is called, not jumped to, so that calls and returns stay in
 * pairs for the processor; each entry has branches of its own for the same reason. A call by which the thread is inside already
 * (a callback) goes straight through.
 *
 * Arguments on the stack are copied: as many words as the function has, by names.txt.
 */
    .macro GATE_ENTRY number, words
    .set frame, 8 + (\words + 1) / 2 * 16 /* and the return address: aligned to 16 */
    .cfi_startproc
    movq gate_slot@gottpoff(%rip), %rax
    movq %fs:(%rax), %r11
    testq %r11, %r11
    jz 2f
    cmpl $0, (%r11)
    jne 3f
    movl $1, (%r11)
    cmpl $0, gate_closed(%rip)
    jne 2f
1:
    subq $frame, %rsp
    .cfi_adjust_cfa_offset frame
    .set word, 0
    .rept \words
    movq frame + 8 + 8 * word(%rsp), %r10
    movq %r10, 8 * word(%rsp)
    .set word, word + 1
    .endr
    call *gate_target+8*\number(%rip)
    addq $frame, %rsp
    .cfi_adjust_cfa_offset -frame
    movq gate_slot@gottpoff(%rip), %r10
    movq %fs:(%r10), %r11
    movl $0, (%r11)
    ret
2:
    call gate_wait
    jmp 1b
3:
    jmp *gate_target+8*\number(%rip)
    .cfi_endproc
    .endm

/*
 * A function that only reads what the process knows: it neither waits for the GPU nor touches its memory, and may be called
 * thousands of times a second (names.txt).
 */
    .macro GATE_FREE number
    .cfi_startproc
    movq gate_target+8*\number(%rip), %rax
    testq %rax, %rax
    jz 2f
    jmp *%rax
2:
    call gate_load
    jmp *gate_target+8*\number(%rip)
    .cfi_endproc
    .endm

/* Calls a function of C with all arguments of the program's call left as they are. */
    .macro GATE_AROUND name, function
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $128, %rsp
    .cfi_adjust_cfa_offset 176
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\n, 16 * \n(%rsp)
    .endr
    /* Two return addresses, six registers and these 128 bytes: aligned to 16. */
    call \function
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups 16 * \n(%rsp), %xmm\n
    .endr
    addq $128, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_adjust_cfa_offset -176
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

    .text
    GATE_AROUND gate_wait, gate_enter
    GATE_AROUND gate_load, driver_open
