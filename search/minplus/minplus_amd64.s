#include "textflag.h"

DATA infinity<>+0(SB)/8, $0x7ff0000000000000
GLOBL infinity<>(SB), RODATA|NOPTR, $8

// BEGIN loads the arguments of loops over numbers: out in DI, h in R8, m in SI, count in R9, n in CX, stride in R10; +Inf is in Y15.
#define BEGIN \
	MOVQ         out+0(FP), DI     \
	MOVQ         h+8(FP), R8       \
	MOVQ         m+16(FP), SI      \
	MOVQ         count+24(FP), R9  \
	MOVQ         n+32(FP), CX      \
	MOVQ         stride+40(FP), R10 \
	VBROADCASTSD infinity<>(SB), Y15

// CLEAR begins four vectors of least sums, in Y0 to Y3, and LOWER adds Y4 to the numbers in Y5 to Y8 and keeps the sums that are below.
#define CLEAR \
	VMOVAPD Y15, Y0 \
	VMOVAPD Y15, Y1 \
	VMOVAPD Y15, Y2 \
	VMOVAPD Y15, Y3

#define LOWER \
	VADDPD Y4, Y5, Y5 \
	VADDPD Y4, Y6, Y6 \
	VADDPD Y4, Y7, Y7 \
	VADDPD Y4, Y8, Y8 \
	VMINPD Y5, Y0, Y0 \
	VMINPD Y6, Y1, Y1 \
	VMINPD Y7, Y2, Y2 \
	VMINPD Y8, Y3, Y3

// COLUMNS takes four blocks at a time, as long as there are so many, and then one. A block has size bytes in m.
#define COLUMNS(load, size, size2, size3, size4) \
	BEGIN                        \
four:                                \
	CMPQ         CX, $4          \
	JLT          one             \
	CLEAR                        \
	MOVQ         R8, R11         \
	MOVQ         SI, R12         \
	MOVQ         R9, R13         \
fourRow:                             \
	VBROADCASTSD (R11), Y4       \
	load         (R12), Y5       \
	load         size(R12), Y6   \
	load         size2(R12), Y7  \
	load         size3(R12), Y8  \
	LOWER                        \
	ADDQ         $8, R11         \
	ADDQ         R10, R12        \
	DECQ         R13             \
	JNZ          fourRow         \
	VMOVUPD      Y0, (DI)        \
	VMOVUPD      Y1, 32(DI)      \
	VMOVUPD      Y2, 64(DI)      \
	VMOVUPD      Y3, 96(DI)      \
	ADDQ         $128, DI        \
	ADDQ         $size4, SI      \
	SUBQ         $4, CX          \
	JMP          four            \
one:                                 \
	TESTQ        CX, CX          \
	JZ           done            \
	VMOVAPD      Y15, Y0         \
	MOVQ         R8, R11         \
	MOVQ         SI, R12         \
	MOVQ         R9, R13         \
oneRow:                              \
	VBROADCASTSD (R11), Y4       \
	load         (R12), Y5       \
	VADDPD       Y4, Y5, Y5      \
	VMINPD       Y5, Y0, Y0      \
	ADDQ         $8, R11         \
	ADDQ         R10, R12        \
	DECQ         R13             \
	JNZ          oneRow          \
	VMOVUPD      Y0, (DI)        \
	ADDQ         $32, DI         \
	ADDQ         $size, SI       \
	DECQ         CX              \
	JMP          one             \
done:                                \
	VZEROUPPER                   \
	RET

// func columns32AVX(out, h *float64, m *float32, count, n, stride int)
TEXT ·columns32AVX(SB), NOSPLIT, $0-48
	COLUMNS(VCVTPS2PD, 16, 32, 48, 64)

// func columns64AVX(out, h, m *float64, count, n, stride int)
TEXT ·columns64AVX(SB), NOSPLIT, $0-48
	COLUMNS(VMOVUPD, 32, 64, 96, 128)

// LEAST stores the least number of a vector, whose lower half is x; z is used.
#define LEAST(y, x, to) \
	VEXTRACTF128 $1, y, X14      \
	VMINPD       X14, x, x       \
	VPERMILPD    $1, x, X14      \
	VMINSD       X14, x, x       \
	VMOVSD       x, to

// ROWS takes four rows at a time, as long as there are so many, and then one.
#define ROWS(load, size) \
	BEGIN                        \
four:                                \
	CMPQ         R9, $4          \
	JLT          one             \
	CLEAR                        \
	MOVQ         R8, R11         \
	MOVQ         SI, R12         \
	LEAQ         (R12)(R10*1), R13 \
	LEAQ         (R13)(R10*1), AX \
	LEAQ         (AX)(R10*1), BX \
	LEAQ         (BX)(R10*1), SI \
	MOVQ         CX, DX          \
fourBlock:                           \
	VMOVUPD      (R11), Y4       \
	load         (R12), Y5       \
	load         (R13), Y6       \
	load         (AX), Y7        \
	load         (BX), Y8        \
	LOWER                        \
	ADDQ         $32, R11        \
	ADDQ         $size, R12      \
	ADDQ         $size, R13      \
	ADDQ         $size, AX       \
	ADDQ         $size, BX       \
	DECQ         DX              \
	JNZ          fourBlock       \
	LEAST(Y0, X0, (DI))          \
	LEAST(Y1, X1, 8(DI))         \
	LEAST(Y2, X2, 16(DI))        \
	LEAST(Y3, X3, 24(DI))        \
	ADDQ         $32, DI         \
	SUBQ         $4, R9          \
	JMP          four            \
one:                                 \
	TESTQ        R9, R9          \
	JZ           done            \
	VMOVAPD      Y15, Y0         \
	MOVQ         R8, R11         \
	MOVQ         SI, R12         \
	MOVQ         CX, DX          \
oneBlock:                            \
	load         (R12), Y5       \
	VADDPD       (R11), Y5, Y5   \
	VMINPD       Y5, Y0, Y0      \
	ADDQ         $32, R11        \
	ADDQ         $size, R12      \
	DECQ         DX              \
	JNZ          oneBlock        \
	LEAST(Y0, X0, (DI))          \
	ADDQ         $8, DI          \
	ADDQ         R10, SI         \
	DECQ         R9              \
	JMP          one             \
done:                                \
	VZEROUPPER                   \
	RET

// func rows32AVX(out, h *float64, m *float32, count, n, stride int)
TEXT ·rows32AVX(SB), NOSPLIT, $0-48
	ROWS(VCVTPS2PD, 16)

// func rows64AVX(out, h, m *float64, count, n, stride int)
TEXT ·rows64AVX(SB), NOSPLIT, $0-48
	ROWS(VMOVUPD, 32)

DATA one<>+0(SB)/8, $1
GLOBL one<>(SB), RODATA|NOPTR, $8

// KEEP keeps the sums of a block of a row and Y9 that are below the least ones, and the row, which is in Y8.
#define KEEP(block, least, best) \
	VPADDQ    block, Y9, Y10           \
	VPCMPGTQ  Y10, least, Y11          \
	VBLENDVPD Y11, Y10, least, least   \
	VBLENDVPD Y11, Y8, best, best

// NARROW stores the lower halves of four numbers, whose first two are x.
#define NARROW(y, x, to) \
	VEXTRACTI128 $1, y, X12    \
	VSHUFPS      $0x88, X12, x, x \
	VMOVDQU      x, to

// func sumsAVX(least *int64, best *int32, half, rows *int64, count, n, stride int)
TEXT ·sumsAVX(SB), NOSPLIT, $0-56
	MOVQ         least+0(FP), DI
	MOVQ         best+8(FP), DX
	MOVQ         half+16(FP), R8
	MOVQ         rows+24(FP), SI
	MOVQ         count+32(FP), R9
	MOVQ         n+40(FP), CX
	MOVQ         stride+48(FP), R10
	VPBROADCASTQ one<>(SB), Y15

four: // blocks
	CMPQ      CX, $4
	JLT       block
	VMOVDQU   (DI), Y0
	VMOVDQU   32(DI), Y1
	VMOVDQU   64(DI), Y2
	VMOVDQU   96(DI), Y3
	VPMOVSXDQ (DX), Y4
	VPMOVSXDQ 16(DX), Y5
	VPMOVSXDQ 32(DX), Y6
	VPMOVSXDQ 48(DX), Y7
	VPXOR     Y8, Y8, Y8 // the row
	MOVQ      R8, R11
	MOVQ      SI, R12
	MOVQ      R9, R13

fourRow:
	VPBROADCASTQ (R11), Y9
	KEEP((R12), Y0, Y4)
	KEEP(32(R12), Y1, Y5)
	KEEP(64(R12), Y2, Y6)
	KEEP(96(R12), Y3, Y7)
	VPADDQ       Y15, Y8, Y8
	ADDQ         $8, R11
	ADDQ         R10, R12
	DECQ         R13
	JNZ          fourRow
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y1, 32(DI)
	VMOVDQU      Y2, 64(DI)
	VMOVDQU      Y3, 96(DI)
	NARROW(Y4, X4, (DX))
	NARROW(Y5, X5, 16(DX))
	NARROW(Y6, X6, 32(DX))
	NARROW(Y7, X7, 48(DX))
	ADDQ         $128, DI
	ADDQ         $64, DX
	ADDQ         $128, SI
	SUBQ         $4, CX
	JMP          four

block:
	TESTQ     CX, CX
	JZ        done
	VMOVDQU   (DI), Y0
	VPMOVSXDQ (DX), Y4
	VPXOR     Y8, Y8, Y8
	MOVQ      R8, R11
	MOVQ      SI, R12
	MOVQ      R9, R13

row:
	VPBROADCASTQ (R11), Y9
	KEEP((R12), Y0, Y4)
	VPADDQ       Y15, Y8, Y8
	ADDQ         $8, R11
	ADDQ         R10, R12
	DECQ         R13
	JNZ          row
	VMOVDQU      Y0, (DI)
	NARROW(Y4, X4, (DX))
	ADDQ         $32, DI
	ADDQ         $16, DX
	ADDQ         $32, SI
	DECQ         CX
	JMP          block

done:
	VZEROUPPER
	RET


// Four numbers of least in old and of others in sum: the lesser of both in sum, and in Y15 where others were less so far.
#define PASS(old, sum) \
	VPADDQ    Y14, sum, sum      \
	VPCMPGTQ  sum, old, Y13      \
	VPOR      Y13, Y15, Y15      \
	VPBLENDVB Y13, sum, old, sum

// func throughAVX(least, others *int64, step int64, n int) bool
TEXT ·throughAVX(SB), NOSPLIT, $0-33
	MOVQ         least+0(FP), DI
	MOVQ         others+8(FP), SI
	VPBROADCASTQ step+16(FP), Y14
	MOVQ         n+24(FP), CX
	VPXOR        Y15, Y15, Y15 // where others were less

four: // blocks
	CMPQ    CX, $4
	JLT     block
	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	VMOVDQU 64(DI), Y2
	VMOVDQU 96(DI), Y3
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	VMOVDQU 64(SI), Y6
	VMOVDQU 96(SI), Y7
	PASS(Y0, Y4)
	PASS(Y1, Y5)
	PASS(Y2, Y6)
	PASS(Y3, Y7)
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	VMOVDQU Y6, 64(DI)
	VMOVDQU Y7, 96(DI)
	ADDQ    $128, DI
	ADDQ    $128, SI
	SUBQ    $4, CX
	JMP     four

block:
	TESTQ   CX, CX
	JZ      done
	VMOVDQU (DI), Y0
	VMOVDQU (SI), Y4
	PASS(Y0, Y4)
	VMOVDQU Y4, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	DECQ    CX
	JMP     block

done:
	VPTEST Y15, Y15
	SETNE  ret+32(FP)
	VZEROUPPER
	RET
