# SPDX-License-Identifier: MIT
"""Exceptions by errno, and objects of the library that are given back once."""
import ctypes
import errno as _errno
import weakref

from . import _abi

lib = _abi.load("rkmm", _abi.FUNCTIONS)


class Error(OSError):
    """What the library or the driver refused: errno, and a sentence in strerror."""


class NotSupported(Error):
    """EOPNOTSUPP: a shape or operation that is not served; the sentence says why."""


class NotAllowed(Error, PermissionError):
    """EACCES: this user may not open the render node, or lacks a privilege."""


class Banned(Error):
    """EPERM: this client hung the NPU too often; open the device anew."""


class NoDevice(Error):
    """ENODEV: no rkmm device, or it is gone."""


class NoRoom(Error):
    """ENOSPC: no room in the NPU's address windows; memory is not the problem."""


class Stale(Error):
    """ESTALE: the plan is no longer trusted on this chip; make a new one."""


class Hang(Error):
    """EIO: the submission hung the NPU."""


class Timeout(Error, TimeoutError):
    """ETIME: it has not ended yet, and goes on."""


_CLASSES = {
    _errno.EOPNOTSUPP: NotSupported,
    _errno.EACCES: NotAllowed,
    _errno.EPERM: Banned,
    _errno.ENODEV: NoDevice,
    _errno.ENOSPC: NoRoom,
    _errno.ESTALE: Stale,
    _errno.EIO: Hang,
    _errno.ETIME: Timeout,
}


def error(code, text):
    """The exception for an errno."""
    return _CLASSES.get(code, Error)(code, text)


def check(ret):
    """What a function returned, or its exception. In the thread that called it."""
    if ret < 0:
        raise error(-ret, (lib.rkmm_last_error() or b"").decode())
    return ret


class Handle:
    """A pointer of the library. Given back when nobody has it any more."""

    def __init__(self, make, destroy, *keep):
        pointer = ctypes.c_void_p()
        check(make(ctypes.byref(pointer)))
        self.pointer = pointer
        # what must outlive it
        self.keep = keep
        weakref.finalize(self, destroy, pointer).atexit = False


class Object:
    """Something with close(), that can stand in a with statement."""
    _handle = None

    def close(self):
        """Give it back. May be repeated; what others still use of it stays."""
        self._handle = None

    @property
    def closed(self):
        return self._handle is None

    def _pointer(self):
        if self._handle is None:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._handle.pointer

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
