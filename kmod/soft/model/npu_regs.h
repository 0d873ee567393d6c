/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers the software NPU acts on, read from hw 01 §1, hw 02 §3 and hw 04 §1.
 * The low 12 bits of an offset index the block's register group.
 */
#ifndef NPU_REGS_H
#define NPU_REGS_H

/* PC, by the CPU (hw 01 §1.2) */
#define PC_VERSION		0x0000
#define PC_VERSION_NUM		0x0004
#define PC_OP_EN		0x0008
#define PC_DATA_ADDR		0x0010
#define PC_DATA_AMOUNT		0x0014
#define PC_UNNAMED_18		0x0018
#define PC_INT_MASK		0x0020
#define PC_INT_CLEAR		0x0024
#define PC_INT_STATUS		0x0028
#define PC_INT_RAW		0x002c
#define PC_TASK_CON		0x0030
#define PC_DMA_BASE		0x0034
#define PC_TASK_STATUS		0x003c
#define DDMA_STATUS		0x8030

#define PC_VERSION_RK3588	0x46495245
#define PC_SEL_SLAVE		0x1
#define TASK_CON_NUMBER		0x0fff
#define TASK_CON_PINGPONG	0x1000
#define TASK_CON_CLEAR		0x2000
#define INT_BITS		0x1ffff
#define INT_MASK_READS		0x80000000
#define INT_RAW_IDLE		0x40000000
#define INT_RAW_HAS_RUN		0x80000000
#define INT_READ_ERROR		0x1000
#define INT_WRITE_ERROR		0x2000
#define DDMA_IDLE		0x100

/* Bits of an entry's target field (hw 02 §1.1) */
#define TARGET_SYNC		0x0040
#define TARGET_START		0x0080
#define TARGET_PC		0x0100
#define TARGET_UNIT		0x0001

/* Bits of the start value (hw 02 §1.2) */
#define START_CNA		0x01
#define START_RESERVED		0x02
#define START_CORE		0x04
#define START_DPU		0x08
#define START_DPU_RDMA		0x10
#define START_PPU		0x20
#define START_PPU_RDMA		0x40

/* every block */
#define BLK_S_STATUS		0x000
#define BLK_S_POINTER		0x004
#define BLK_OP_EN		0x008

#define POINTER_GROUP		0x01
#define POINTER_PP_EN		0x02
#define EXECUTER_PP_EN		0x04
#define POINTER_PP_MODE		0x08
#define POINTER_CLEAR		0x10
#define EXECUTER_CLEAR		0x20
#define EXECUTER_GROUP		0x10000
#define S_STATUS_RUNNING	0x5

/* CNA */
#define CNA_CONV_CON1		0x100c
#define CNA_CONV_CON2		0x1010
#define CNA_CONV_CON3		0x1014
#define CNA_DATA_SIZE0		0x1020
#define CNA_DATA_SIZE1		0x1024
#define CNA_DATA_SIZE2		0x1028
#define CNA_DATA_SIZE3		0x102c
#define CNA_WEIGHT_SIZE0	0x1030
#define CNA_WEIGHT_SIZE1	0x1034
#define CNA_WEIGHT_SIZE2	0x1038
#define CNA_CBUF_CON0		0x1040
#define CNA_CBUF_CON1		0x1044
#define CNA_PAD_CON0		0x1068
#define CNA_FEATURE_ADDR	0x1070
#define CNA_DMA_CON1		0x107c
#define CNA_DMA_CON2		0x1080
#define CNA_FC_DATA_SIZE0	0x1084
#define CNA_FC_DATA_SIZE1	0x1088
#define CNA_DCOMP_CTRL		0x1100
#define CNA_DCOMP_ADDR0		0x1110
#define CNA_PAD_CON1		0x1184

#define CON1_NONALIGN		0x40000000
#define CON1_GROUP_LINE_OFF	0x20000000
#define CON1_DECONV		0x00010000
#define CBUF_WEIGHT_REUSE	0x2000
#define CBUF_DATA_REUSE		0x1000

/* CORE */
#define CORE_MISC_CFG		0x3010
#define CORE_DATAOUT_SIZE0	0x3014
#define CORE_DATAOUT_SIZE1	0x3018
#define CORE_CLIP_TRUNCATE	0x301c

#define MISC_QD_EN		0x1
#define MISC_DW_EN		0x2

/* DPU */
#define DPU_FEATURE_MODE	0x400c
#define DPU_DATA_FORMAT		0x4010
#define DPU_OFFSET_PEND		0x4014
#define DPU_DST_BASE		0x4020
#define DPU_DST_SURF_STRIDE	0x4024
#define DPU_CUBE_WIDTH		0x4030
#define DPU_CUBE_HEIGHT		0x4034
#define DPU_CUBE_NOTCH		0x4038
#define DPU_CUBE_CHANNEL	0x403c
#define DPU_BS_CFG		0x4040
#define DPU_BS_ALU		0x4044
#define DPU_BS_MUL		0x4048
#define DPU_BS_RELUX		0x404c
#define DPU_BS_OW_CFG		0x4050
#define DPU_BS_OW_OP		0x4054
#define DPU_WDMA_SIZE0		0x4058
#define DPU_WDMA_SIZE1		0x405c
#define DPU_BN_CFG		0x4060
#define DPU_BN_ALU		0x4064
#define DPU_BN_MUL		0x4068
#define DPU_BN_RELUX		0x406c
#define DPU_EW_CFG		0x4070
#define DPU_OUT_OFFSET		0x4080
#define DPU_OUT_SCALE		0x4084
#define DPU_OUT_SHIFT		0x4088
#define DPU_SURFACE_ADD		0x40c0

#define FEATURE_FLYING		0x1
#define STAGE_BYPASS		0x01
#define STAGE_ALU_BYPASS	0x02
#define STAGE_MUL_BYPASS	0x10
#define STAGE_MUL_PRELU		0x20
#define STAGE_RELU_BYPASS	0x40
#define STAGE_RELUX_EN		0x80
#define STAGE_ALU_SRC		0x100
#define STAGE_MUL_SRC		0x1
#define OW_OD_BYPASS		0x2
#define OW_SRC_OUTSIDE		0x1
#define EW_BYPASS		0x1
#define OUT_FP32TOFP16		0x10000
#define OUT_ROUND_CARRY		0x40000000
#define OUT_ADD_FIRST		0x80000000

/* DPU_RDMA */
#define RDMA_CUBE_WIDTH		0x500c
#define RDMA_CUBE_HEIGHT	0x5010
#define RDMA_CUBE_CHANNEL	0x5014
#define RDMA_BRDMA_CFG		0x501c
#define RDMA_BRDMA_BASE		0x5020
#define RDMA_ERDMA_CFG		0x5034
#define RDMA_FEATURE_MODE	0x5044

#define RDMA_MRDMA_DISABLE	0x10
#define ERDMA_DISABLE		0x1
#define BRDMA_USE_ALU		0x1

/* Precision codes (hw 02 §3.6) */
#define PREC_INT8		0
#define PREC_INT16		1
#define PREC_FP16		2
#define PREC_INT32		4
#define PREC_FP32		5
#define PREC_INT4		6

#endif
