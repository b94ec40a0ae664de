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

// The instruction returns its second operand where one is NaN or both are zeros. So it runs both ways round: of zeros the signs are
// joined, and where there is a NaN the sum is taken.
#define EXTREME(select, join) \
	VMOVUPS   (SI), Y0         \
	VMOVUPS   (DX), Y1         \
	select    Y1, Y0, Y2       \
	select    Y0, Y1, Y3       \
	join      Y2, Y3, Y2       \
	VADDPS    Y1, Y0, Y4       \
	VCMPPS    $3, Y1, Y0, Y5   \
	VBLENDVPS Y5, Y4, Y2, Y2

// func maximumAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·maximumAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	EXTREME(VMAXPS, VANDPS)
	NEXT

// func minimumAVX(dst, x, y *float32, n, stepX, stepY int)
TEXT ·minimumAVX(SB), NOSPLIT, $0-48
	BEGIN
loop:
	EXTREME(VMINPS, VORPS)
	NEXT

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
