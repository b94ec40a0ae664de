#include "textflag.h"

// ROW adds the products of an element of a and two vectors of b, in Y12 and Y13, to two vectors of sums.
#define ROW(at, load, mul, add, s, t) \
	load at, Y14         \
	mul  Y12, Y14, Y15   \
	mul  Y13, Y14, Y14   \
	add  Y15, s, s       \
	add  Y14, t, t

// TILE6 is the body of a tile of six rows: Y0 to Y11 are the sums, R12 is the fourth row of a.
#define TILE6(load, mul, add) \
	MOVQ k+0(FP), CX       \
	MOVQ a+8(FP), SI       \
	MOVQ rowA+16(FP), R8   \
	MOVQ stepA+24(FP), R9  \
	MOVQ b+32(FP), DI      \
	MOVQ stepB+40(FP), R10 \
	MOVQ c+48(FP), DX      \
	MOVQ rowC+56(FP), R11  \
	LEAQ (R8)(R8*2), R12   \
	ADDQ SI, R12           \
	VXORPS Y0, Y0, Y0      \
	VXORPS Y1, Y1, Y1      \
	VXORPS Y2, Y2, Y2      \
	VXORPS Y3, Y3, Y3      \
	VXORPS Y4, Y4, Y4      \
	VXORPS Y5, Y5, Y5      \
	VXORPS Y6, Y6, Y6      \
	VXORPS Y7, Y7, Y7      \
	VXORPS Y8, Y8, Y8      \
	VXORPS Y9, Y9, Y9      \
	VXORPS Y10, Y10, Y10   \
	VXORPS Y11, Y11, Y11   \
loop:                      \
	VMOVUPS (DI), Y12      \
	VMOVUPS 32(DI), Y13    \
	ROW((SI), load, mul, add, Y0, Y1)          \
	ROW((SI)(R8*1), load, mul, add, Y2, Y3)    \
	ROW((SI)(R8*2), load, mul, add, Y4, Y5)    \
	ROW((R12), load, mul, add, Y6, Y7)         \
	ROW((R12)(R8*1), load, mul, add, Y8, Y9)   \
	ROW((R12)(R8*2), load, mul, add, Y10, Y11) \
	ADDQ R9, SI            \
	ADDQ R9, R12           \
	ADDQ R10, DI           \
	DECQ CX                \
	JNZ  loop              \
	VMOVUPS Y0, (DX)       \
	VMOVUPS Y1, 32(DX)     \
	ADDQ R11, DX           \
	VMOVUPS Y2, (DX)       \
	VMOVUPS Y3, 32(DX)     \
	ADDQ R11, DX           \
	VMOVUPS Y4, (DX)       \
	VMOVUPS Y5, 32(DX)     \
	ADDQ R11, DX           \
	VMOVUPS Y6, (DX)       \
	VMOVUPS Y7, 32(DX)     \
	ADDQ R11, DX           \
	VMOVUPS Y8, (DX)       \
	VMOVUPS Y9, 32(DX)     \
	ADDQ R11, DX           \
	VMOVUPS Y10, (DX)      \
	VMOVUPS Y11, 32(DX)    \
	VZEROUPPER             \
	RET

// TILE1 is the body of a tile of one row.
#define TILE1(load, mul, add) \
	MOVQ k+0(FP), CX       \
	MOVQ a+8(FP), SI       \
	MOVQ stepA+16(FP), R9  \
	MOVQ b+24(FP), DI      \
	MOVQ stepB+32(FP), R10 \
	MOVQ c+40(FP), DX      \
	VXORPS Y0, Y0, Y0      \
	VXORPS Y1, Y1, Y1      \
loop:                      \
	VMOVUPS (DI), Y12      \
	VMOVUPS 32(DI), Y13    \
	ROW((SI), load, mul, add, Y0, Y1) \
	ADDQ R9, SI            \
	ADDQ R10, DI           \
	DECQ CX                \
	JNZ  loop              \
	VMOVUPS Y0, (DX)       \
	VMOVUPS Y1, 32(DX)     \
	VZEROUPPER             \
	RET

// func tile6Float32AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)
TEXT ·tile6Float32AVX(SB), NOSPLIT, $0-64
	TILE6(VBROADCASTSS, VMULPS, VADDPS)

// func tile6Int32AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)
TEXT ·tile6Int32AVX(SB), NOSPLIT, $0-64
	TILE6(VPBROADCASTD, VPMULLD, VPADDD)

// func tile6Float64AVX(k int, a unsafe.Pointer, rowA, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer, rowC int)
TEXT ·tile6Float64AVX(SB), NOSPLIT, $0-64
	TILE6(VBROADCASTSD, VMULPD, VADDPD)

// func tile1Float32AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)
TEXT ·tile1Float32AVX(SB), NOSPLIT, $0-48
	TILE1(VBROADCASTSS, VMULPS, VADDPS)

// func tile1Int32AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)
TEXT ·tile1Int32AVX(SB), NOSPLIT, $0-48
	TILE1(VPBROADCASTD, VPMULLD, VPADDD)

// func tile1Float64AVX(k int, a unsafe.Pointer, stepA int, b unsafe.Pointer, stepB int, c unsafe.Pointer)
TEXT ·tile1Float64AVX(SB), NOSPLIT, $0-48
	TILE1(VBROADCASTSD, VMULPD, VADDPD)
