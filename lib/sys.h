/* SPDX-License-Identifier: MIT */
/*
 * Everything the library asks of the operating system about the device goes
 * through these few functions, so that tests can link a kernel of their own.
 */
#ifndef RKMM_SYS_H
#define RKMM_SYS_H

#include <stddef.h>
#include <stdint.h>

/* Like open() of a render node. Returns a descriptor or -errno. */
int rkmm_sys_open(const char *path);

/* Number i of the render nodes of this machine into path; -ENOENT past the last. */
int rkmm_sys_node(unsigned int i, char *path, size_t size);

void rkmm_sys_close(int fd);

/* Driver name and version of a node. Returns 0 or -errno. */
int rkmm_sys_version(int fd, char *name, size_t size, int *major, int *minor);

/*
 * Returns 0 or -errno, never -EINTR: an ioctl that a signal ended is repeated.
 * That is safe for SUBMIT because it fails only when nothing was queued; a
 * signal during its wait is reported in wait_status.
 */
int rkmm_sys_ioctl(int fd, unsigned long request, void *arg);

int rkmm_sys_prime_export(int fd, uint32_t handle, int *dmabuf_fd);
int rkmm_sys_prime_import(int fd, int dmabuf_fd, uint32_t *handle);

/* Shared read-write mapping, NULL with *err = -errno. */
void *rkmm_sys_mmap(int fd, uint64_t size, uint64_t offset, int *err);
void rkmm_sys_munmap(void *ptr, uint64_t size);

#endif
