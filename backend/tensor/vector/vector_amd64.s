#include "textflag.h"

// A loop over n vectors: BEGIN loads the arguments, NEXT moves on.
#define BEGIN \
	MOVQ dst+0(FP), DI   \
	MOVQ x+8(FP), SI     \
	MOVQ y+16(FP), DX    \
	MOVQ n+24(FP), CX    \
	MOVQ stepX+32(FP), R8 \
	MOVQ stepY+40(FP), R9

#define NEXT \
	VMOVUPS Y2, (DI) \
	ADDQ    R8, SI   \
	ADDQ    R9, DX   \
	ADDQ    $32, DI  \
	DECQ    CX       \
	JNZ     loop     \
	VZEROUPPER       \
	RET

// The instruction returns its second operand where one is NaN or both are zeros. So it runs both ways round: of zeros the signs are
// joined, and where there is a NaN the sum is taken.
#define EXTREME(select, join) \
	select    Y1, Y0, Y2       \
	select    Y0, Y1, Y3       \
	join      Y2, Y3, Y2       \
	VADDPS    Y1, Y0, Y4       \
	VCMPPS    $3, Y1, Y0, Y5   \
	VBLENDVPS Y5, Y4, Y2, Y2

// FOLD keeps what the loop has found in Y1.
#define FOLD(select, join) \
	MOVQ    folded+0(FP), DI \
	MOVQ    x+8(FP), SI      \
	MOVQ    n+16(FP), CX     \
	VMOVUPS (SI), Y1         \
loop:                            \
	VMOVUPS (SI), Y0         \
	EXTREME(select, join)    \
	VMOVAPS Y2, Y1           \
	ADDQ    $32, SI          \
	DECQ    CX               \
	JNZ     loop             \
	VMOVUPS Y1, (DI)         \
	VZEROUPPER               \
	RET

// func addAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·addAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VADDPS  (DX), Y0, Y2
	NEXT

// func subtractAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·subtractAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VSUBPS  (DX), Y0, Y2
	NEXT

// func multiplyAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·multiplyAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VMULPS  (DX), Y0, Y2
	NEXT

// func divideAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·divideAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VDIVPS  (DX), Y0, Y2
	NEXT

// func maximumAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·maximumAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VMOVUPS (DX), Y1
	EXTREME(VMAXPS, VANDPS)
	NEXT

// func minimumAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·minimumAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVUPS (SI), Y0
	VMOVUPS (DX), Y1
	EXTREME(VMINPS, VORPS)
	NEXT

// func foldMaximumAVX(folded *[8]float32, x *float32, n int)
TEXT ·foldMaximumAVX(SB), NOSPLIT, $0-24
	FOLD(VMAXPS, VANDPS)

// func foldMinimumAVX(folded *[8]float32, x *float32, n int)
TEXT ·foldMinimumAVX(SB), NOSPLIT, $0-24
	FOLD(VMINPS, VORPS)

// func addToAVX(sums *float64, x *float32, n int)
TEXT ·addToAVX(SB), NOSPLIT, $0-24
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
loop:
	VCVTPS2PD (SI), Y0
	VCVTPS2PD 16(SI), Y1
	VADDPD    (DI), Y0, Y0
	VADDPD    32(DI), Y1, Y1
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	DECQ      CX
	JNZ       loop
	VZEROUPPER
	RET

// func sumAVX(sums *[8]float64, x *float32, n int)
TEXT ·sumAVX(SB), NOSPLIT, $0-24
	MOVQ   sums+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
loop:
	VCVTPS2PD (SI), Y2
	VCVTPS2PD 16(SI), Y3
	VADDPD    Y2, Y0, Y0
	VADDPD    Y3, Y1, Y1
	ADDQ      $32, SI
	DECQ      CX
	JNZ       loop
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	VZEROUPPER
	RET

// func intAddAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·intAddAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPADDD (DX), Y0, Y2
	NEXT

// func intSubtractAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·intSubtractAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPSUBD (DX), Y0, Y2
	NEXT

// func intMultiplyAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·intMultiplyAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPMULLD (DX), Y0, Y2
	NEXT

// func andAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·andAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPAND (DX), Y0, Y2
	NEXT

// func orAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·orAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPOR (DX), Y0, Y2
	NEXT

// func xorAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·xorAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPXOR (DX), Y0, Y2
	NEXT

// func shiftLeftAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·shiftLeftAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPSLLVD (DX), Y0, Y2
	NEXT

// func shiftRightLogicalAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·shiftRightLogicalAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPSRLVD (DX), Y0, Y2
	NEXT

// func shiftRightArithmeticAVX(dst, x, y *uint32, n, stepX, stepY int)
TEXT ·shiftRightArithmeticAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	VMOVDQU (SI), Y0
	VPSRAVD (DX), Y0, Y2
	NEXT

// func chooseAVX(dst *uint32, which *byte, x, y *uint32, n, stepX, stepY int)
TEXT ·chooseAVX(SB), NOSPLIT, $0-56
	MOVQ  dst+0(FP), DI
	MOVQ  which+8(FP), BX
	MOVQ  x+16(FP), SI
	MOVQ  y+24(FP), DX
	MOVQ  n+32(FP), CX
	MOVQ  stepX+40(FP), R8
	MOVQ  stepY+48(FP), R9
	VPXOR Y5, Y5, Y5
loop:
	VPMOVZXBD (BX), Y0
	VPCMPEQD  Y5, Y0, Y0
	VMOVUPS   (SI), Y1
	VBLENDVPS Y0, (DX), Y1, Y2
	ADDQ      $8, BX
	NEXT

// func narrowAVX(dst *float32, x *float64, n int)
TEXT ·narrowAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
loop:
	VCVTPD2PSY (SI), X0
	VCVTPD2PSY 32(SI), X1
	VMOVUPS    X0, (DI)
	VMOVUPS    X1, 16(DI)
	ADDQ       $64, SI
	ADDQ       $32, DI
	DECQ       CX
	JNZ        loop
	VZEROUPPER
	RET
