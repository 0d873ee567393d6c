// SPDX-License-Identifier: GPL-2.0-only
/*
 * vm_area_struct.vm_flags is written through helpers since bc292ab00f6c ("mm: introduce
 * vma->vm_flags wrapper functions"), 6.3.
 */
#include <linux/mm.h>

static void __maybe_unused probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTDUMP);
}
