#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The module rkmm against numpy, on whatever device the library opens.

test_rkmm.py [CLASS]...     TAP; status 4: cannot run here
"""
import errno
import os
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SKIP = 4
try:
    import numpy as np
except ImportError as e:
    print(f"no numpy: {e}")
    sys.exit(SKIP)
try:
    import rkmm
except ImportError as e:
    print(e)
    sys.exit(SKIP)

# M, K, N: one element, odd ones, more than a group of columns, what needs no padding
SHAPES = [(1, 1, 1), (3, 33, 5), (7, 100, 37), (17, 64, 96), (64, 512, 32), (5, 291, 129)]
SUMS = {rkmm.I8I32: np.int64, rkmm.I8I8: np.int64, rkmm.I4I16: np.int64,
        rkmm.F16F32: np.float64, rkmm.F16F16: np.float64}
rng = np.random.default_rng(20231)


def operands(types, m, k, n):
    if types in (rkmm.F16F32, rkmm.F16F16):
        return (rng.uniform(-2, 2, (m, k)).astype(np.float16),
                rng.uniform(-2, 2, (k, n)).astype(np.float16))
    low, high = (-8, 7) if types == rkmm.I4I16 else (-128, 127)
    return (rng.integers(low, high, (m, k), np.int8, True),
            rng.integers(low, high, (k, n), np.int8, True))


def requantised(sums, mult, shift, offset):
    """halves to even; exact in double precision"""
    return np.clip(np.rint(sums * mult / 2.0 ** shift) + offset, -128, 127).astype(np.int8)


def open_bytes():
    """memory of the client's buffers, where the kernel tells"""
    for fd in os.listdir("/proc/self/fdinfo"):
        try:
            with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as f:
                text = f.read()
        except OSError:
            continue
        if "drm-driver:\trkmm" in text:
            for line in text.splitlines():
                if line.startswith("drm-total-memory"):
                    return int(line.split()[1])
    return 0


class Case(unittest.TestCase):
    def setUp(self):
        self.npu = rkmm.Device()

    def tearDown(self):
        self.npu.close()

    def right(self, types, a, b, c, **quant):
        sums = a.astype(SUMS[types]) @ b.astype(SUMS[types])
        if types == rkmm.I8I8:
            np.testing.assert_array_equal(c, requantised(sums, **quant))
        elif types == rkmm.I8I32:
            np.testing.assert_array_equal(c, sums)
        elif types == rkmm.I4I16:
            np.testing.assert_array_equal(c, np.clip(sums, -32768, 32767))
        else:
            # fp32 sums in any order: each addition is off by half a step of the magnitudes' sum
            size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
            bound = size * a.shape[1] * 2.0 ** -23
            if types == rkmm.F16F16:
                bound = bound + np.abs(sums) * 2.0 ** -11 + 2.0 ** -24
            self.assertTrue(np.all(np.abs(c - sums) <= bound))

    def fails(self, code, call, *args, **kwargs):
        with self.assertRaises(rkmm.Error) as caught:
            call(*args, **kwargs)
        self.assertEqual(caught.exception.errno, code)
        self.assertGreater(len(caught.exception.strerror), 3)
        return caught.exception


class Facts(Case):
    def test_device(self):
        info = self.npu.info
        self.assertTrue(info.chip)
        self.assertGreater(info.cores, 0)
        self.assertEqual(self.npu.type_info(rkmm.I4I16).in_bits, 4)
        self.assertEqual(self.npu.type_info(rkmm.F16F32).out_bits, 32)

    def test_counters(self):
        before = self.npu.client.jobs
        a, b = operands(rkmm.I8I32, 3, 40, 8)
        self.npu.matmul(a, b)
        self.npu.matmul(a, b)
        self.assertIn(self.npu.client.jobs - before, (0, 2))

    def test_version(self):
        self.assertRegex(rkmm.__version__, r"^\d+\.\d+\.\d+$")


class Matmul(Case):
    def each(self, types, **quant):
        for m, k, n in SHAPES:
            with self.subTest(types=types, shape=(m, k, n)):
                a, b = operands(types, m, k, n)
                c = self.npu.matmul(a, b, types, **quant)
                self.assertEqual(c.shape, (m, n))
                self.right(types, a, b, c, **quant)

    def test_int8(self):
        self.each(rkmm.I8I32)

    def test_int8_to_int8(self):
        self.each(rkmm.I8I8, mult=20011, shift=21, offset=-3)
        self.each(rkmm.I8I8, mult=1, shift=7, offset=0)

    def test_int4(self):
        self.each(rkmm.I4I16)

    def test_int4_clamps(self):
        a = np.full((2, 1000), 7, np.int8)
        b = np.full((1000, 3), 7, np.int8)
        b[:, 1] = -8
        np.testing.assert_array_equal(self.npu.matmul(a, b, rkmm.I4I16),
                                      [[32767, -32768, 32767]] * 2)

    def test_fp16(self):
        self.each(rkmm.F16F32)

    def test_fp16_to_fp16(self):
        self.each(rkmm.F16F16)

    def test_types_by_dtype(self):
        a, b = operands(rkmm.I8I32, 2, 5, 3)
        self.assertEqual(self.npu.matmul(a, b).dtype, np.int32)
        a, b = operands(rkmm.F16F32, 2, 5, 3)
        self.assertEqual(self.npu.matmul(a, b).dtype, np.float32)

    def test_views(self):
        """slices, steps and transposed arrays mean what they say"""
        a, b = operands(rkmm.I8I32, 20, 70, 90)
        for x, y in ((a[3:11, 5:38], b[2:35, 7:50]), (a[::2, :], b[:, ::3]),
                     (a[:, ::-1], b), (a, np.asfortranarray(b)), (a, b.T.copy().T[:, 4:9]),
                     (a[::-1], b[::-1]), (a[:1, :], b[:, :1])):
            with self.subTest(x=x.strides, y=y.strides):
                self.right(rkmm.I8I32, x, y, self.npu.matmul(x, y))

    def test_out(self):
        a, b = operands(rkmm.I8I32, 4, 33, 6)
        whole = np.full((8, 10), 77, np.int32)
        view = whole[2:6, 3:9]
        self.assertIs(self.npu.matmul(a, b, out=view), view)
        self.right(rkmm.I8I32, a, b, view)
        whole[2:6, 3:9] = 77
        self.assertTrue(np.all(whole == 77))
        apart = np.zeros((6, 4), np.int32).T
        self.assertIs(self.npu.matmul(a, b, out=apart), apart)
        self.right(rkmm.I8I32, a, b, apart)


class Resident(Case):
    def test_contexts(self):
        for types in (rkmm.I8I32, rkmm.F16F32, rkmm.I4I16):
            a, b = operands(types, 9, 70, 45)
            with self.npu.weights(b, types) as w, self.npu.context(9, w) as ctx:
                self.assertEqual(w.shape, (70, 45))
                self.assertEqual(w.types, types)
                for rows in (9, 1, 4):
                    self.right(types, a[:rows], b, ctx.run(a[:rows]))

    def test_turns(self):
        """weights of one layout take turns in a context"""
        a, b1 = operands(rkmm.I8I32, 4, 96, 64)
        b2 = operands(rkmm.I8I32, 4, 96, 64)[1]
        with self.npu.weights(b1) as w1, self.npu.weights(b2) as w2, \
                self.npu.context(4, w1) as ctx:
            for b, w in ((b1, w1), (b2, w2), (b1, None)):
                self.right(rkmm.I8I32, a, b, ctx.run(a, w))

    def test_in_flight(self):
        a, b = operands(rkmm.I8I32, 8, 128, 64)
        with self.npu.weights(b) as w, self.npu.context(8, w) as ctx:
            self.fails(errno.ENOENT, ctx.wait)
            was = a.copy()
            ctx.submit(a)
            a[:] = 0
            self.fails(errno.EBUSY, ctx.submit, a)
            ctx.wait(timeout=60)
            self.right(rkmm.I8I32, was, b, ctx.read())

    def test_file(self):
        a, b = operands(rkmm.I8I32, 4, 64, 40)
        scales = rng.uniform(0.1, 1, 40).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.rkw")
            with self.npu.weights(b) as w:
                self.assertIsNone(w.scales)
                w.scales = scales
                w.save(path)
            with self.npu.load_weights(path) as w, self.npu.context(4, w) as ctx:
                np.testing.assert_array_equal(w.scales, scales)
                self.right(rkmm.I8I32, a, b, ctx.run(a))
            with open(path, "r+b") as f:
                f.truncate(100)
            self.fails(errno.EBADMSG, self.npu.load_weights, path)
            self.fails(errno.ENOENT, self.npu.load_weights, path + "x")

    def test_order(self):
        """objects outlive what they were made of"""
        a, b = operands(rkmm.I8I32, 4, 64, 32)
        npu = rkmm.Device()
        w = npu.weights(b)
        ctx = npu.context(4, w)
        npu.close()
        w.close()
        with self.assertRaises(ValueError):
            w.shape
        ctx._weights = None
        with self.npu.weights(b) as other, self.npu.context(4, other) as own:
            self.right(rkmm.I8I32, a, b, own.run(a))
        ctx.close()
        ctx.close()

    def test_freed(self):
        a, b = operands(rkmm.I8I32, 4, 640, 64)
        self.npu.matmul(a, b)
        before = open_bytes()
        for _ in range(200):
            with self.npu.weights(b) as w, self.npu.context(4, w) as ctx:
                ctx.submit(a)
                ctx.wait()
        for _ in range(200):
            self.npu.buffer(4096)
        self.assertLess(open_bytes() - before, 1 << 20)

    def test_threads(self):
        results = []

        def work():
            a, b = operands(rkmm.I8I32, 5, 200, 60)
            with self.npu.weights(b) as w, self.npu.context(5, w) as ctx:
                for _ in range(5):
                    np.testing.assert_array_equal(ctx.run(a), a.astype(np.int32) @
                                                  b.astype(np.int32))
            results.append(1)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(results), 3)


class ByHand(Case):
    def test_submission(self):
        """two products at offsets of shared buffers, one submission"""
        for types in (rkmm.I8I32, rkmm.F16F32):
            a1, b = operands(types, 6, 100, 70)
            a2 = operands(types, 6, 100, 70)[0]
            with self.npu.plan(types, 6, 100, 70) as plan:
                step_a = -(-plan.a.size // 64) * 64
                step_c = -(-plan.c.size // 64) * 64
                with self.npu.buffer(2 * step_a) as abuf, self.npu.buffer(plan.b.size) as bbuf, \
                        self.npu.buffer(2 * step_c) as cbuf:
                    plan.pack_a(abuf, a1)
                    plan.pack_a(abuf, a2, step_a)
                    plan.pack_b(bbuf, b)
                    ops = [rkmm.Op(plan, (abuf, i * step_a), bbuf, (cbuf, i * step_c))
                           for i in range(2)]
                    self.npu.wait(self.npu.submit(ops), timeout=60)
                    self.right(types, a1, b, plan.finish_c(cbuf))
                    self.right(types, a2, b, plan.finish_c(cbuf, step_c))
                self.assertGreater(plan.programs, 0)
                self.assertIn(plan.evidence, (0, 1, 2))

    def test_mapping(self):
        buffer = self.npu.buffer(10000)
        self.assertEqual(buffer.size, 12288)
        with buffer.access(rkmm.WRITE, 100, 50) as mem:
            self.assertEqual(mem.shape, (50,))
            mem[:] = np.arange(50)
        with buffer.access(rkmm.READ) as mem:
            np.testing.assert_array_equal(mem[100:150], np.arange(50))
            self.assertEqual(mem[99], 0)
            with self.assertRaises(ValueError):
                mem[0] = 1
            buffer.close()
            self.assertEqual(mem[149], 49)

    def test_sharing(self):
        with self.npu.buffer(4096) as buffer, rkmm.Device() as other:
            with buffer.access(rkmm.WRITE) as mem:
                mem[:] = 5
            fd = buffer.export()
            try:
                with rkmm.Buffer.from_dmabuf(other, fd) as same:
                    with same.access(rkmm.READ) as mem:
                        self.assertTrue(np.all(mem == 5))
            finally:
                os.close(fd)


class Errors(Case):
    def test_shapes(self):
        a, b = operands(rkmm.I8I32, 4, 32, 8)
        for x, y in ((a, b[:-1]), (a[0], b), (a, b[None]), (a[:0], b), (a, b.astype(np.int16)),
                     (a.astype(np.float16), b)):
            self.fails(errno.EINVAL, self.npu.matmul, x, y)
        self.fails(errno.EINVAL, self.npu.matmul, a, b, 99)
        self.fails(errno.EINVAL, self.npu.matmul, a, b, out=np.empty((4, 9), np.int32))
        self.fails(errno.EINVAL, self.npu.matmul, a, b, cores=1 << 32)
        with self.assertRaises(TypeError):
            self.npu.matmul(a, b, colour=1)

    def test_refused(self):
        self.assertIsInstance(self.fails(errno.EOPNOTSUPP, self.npu.plan, rkmm.I8I32, 1, 0, 5),
                              rkmm.NotSupported)
        a, b = operands(rkmm.I8I8, 4, 32, 8)
        for mult in (0, -1):
            with self.assertRaises(rkmm.Error) as caught:
                self.npu.matmul(a, b, rkmm.I8I8, mult=mult)
            self.assertIn(caught.exception.errno, (errno.EINVAL, errno.EOPNOTSUPP))

    def test_values(self):
        a, b = operands(rkmm.I4I16, 4, 32, 8)
        a[2, 3] = 8
        self.fails(errno.ERANGE, self.npu.matmul, a, b, rkmm.I4I16)

    def test_contexts(self):
        a, b = operands(rkmm.I8I32, 4, 32, 8)
        with self.npu.weights(b) as w, self.npu.context(4, w) as ctx:
            self.fails(errno.EINVAL, ctx.submit, a[:, :-1])
            self.fails(errno.EINVAL, ctx.submit, np.vstack([a, a]))
            with self.npu.weights(operands(rkmm.I8I32, 4, 96, 8)[1]) as large:
                self.fails(errno.EINVAL, ctx.submit, a, large)

    def test_buffers(self):
        self.fails(errno.EINVAL, self.npu.buffer, 0)
        with self.npu.buffer(4096) as buffer:
            with self.assertRaises(rkmm.Error):
                with buffer.access(rkmm.READ, 4096, 1):
                    pass
        with self.assertRaises(ValueError):
            buffer.size

    def test_device(self):
        self.fails(errno.ENOENT, self.npu.wait, 1 << 40)
        if os.path.exists("/dev/dri"):
            self.assertIsInstance(self.fails(errno.ENOENT, rkmm.Device, "/dev/dri/none"), OSError)
        self.npu.close()
        with self.assertRaises(ValueError):
            self.npu.info


class Sequences(Case):
    def test_linear(self):
        rows, k, n = 11, 70, 50
        x = rng.uniform(-1, 1, (rows, k)).astype(np.float16)
        w = rng.uniform(-1, 1, (k, n)).astype(np.float16)
        bias = rng.uniform(-1, 1, n).astype(np.float32)
        with self.npu.weights(w) as weights, self.npu.sequence() as s:
            tx, tb = s.input(rows, k), s.bias(n)
            y = s.unary("relu", s.linear(tx, s.weights(weights), tb))
            s.output(y, (rows, n))
            s.build()
            s.write(tb, bias)
            for sign in (1, -1):
                s.write(tx, (sign * x).astype(np.float32))
                s.run()
                want = np.maximum(sign * x.astype(np.float64) @ w.astype(np.float64) + bias, 0)
                np.testing.assert_allclose(s.read(y), want, rtol=2e-3, atol=1e-2)
            self.assertGreater(s.info.ops, 0)
            with self.assertRaises(rkmm.Error):
                s.write(tx, x[:-1])
            with self.assertRaises(rkmm.Error):
                s.write(y, x)

    def test_int8(self):
        a, b = operands(rkmm.I8I32, 5, 64, 33)
        with self.npu.sequence() as s:
            ta, tb = s.input(5, 64, rkmm.I8), s.input_b(64, 33, rkmm.I8)
            c = s.matmul(rkmm.I8I32, ta, tb)
            s.output(c, (5, 33), np.int32)
            s.build()
            s.write(ta, a)
            s.write(tb, b)
            s.run()
            self.right(rkmm.I8I32, a, b, s.read(c))

    def test_errors(self):
        with self.npu.sequence() as s:
            x = s.input(4, 32)
            with self.assertRaises(rkmm.Error):
                s.binary("add", x, s.input(5, 32))
        with self.npu.sequence() as s:
            self.assertEqual(self.fails(errno.EINVAL, s.build).errno, errno.EINVAL)


class Tap(unittest.TestResult):
    """A line for each test, and why it failed."""

    def line(self, test, word, text=""):
        print(word, self.testsRun, test.id().removeprefix("__main__."))
        for part in text.splitlines():
            print("#", part)

    def addSuccess(self, test):
        self.line(test, "ok")

    def addError(self, test, err):
        super().addError(test, err)
        self.line(test, "not ok", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(test, "not ok", self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.line(subtest, "not ok", (self.failures + self.errors)[-1][1])


def main():
    try:
        rkmm.Device().close()
    except rkmm.Error as e:
        if e.errno in (errno.ENODEV, errno.EACCES):
            print(e.strerror)
            return SKIP
        raise
    loader, here = unittest.defaultTestLoader, sys.modules["__main__"]
    tests = (loader.loadTestsFromNames(sys.argv[1:], here) if sys.argv[1:] else
             loader.loadTestsFromModule(here))
    print("TAP version 13")
    print(f"1..{tests.countTestCases()}")
    result = tests.run(Tap())
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
