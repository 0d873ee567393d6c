// SPDX-License-Identifier: MIT
/*
 * librkmm from C++17: each object is given back by its owner, errors are exceptions. Multiplies
 * random int8 matrices on the NPU, several in flight, and compares with plain loops.
 */
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <rkmm.h>

namespace {

template <auto destroy>
struct deleter {
	template <typename T>
	void operator()(T *object) const
	{
		destroy(object);
	}
};

using device = std::unique_ptr<rkmm_device, deleter<rkmm_close>>;
using weights = std::unique_ptr<rkmm_weights, deleter<rkmm_weights_destroy>>;
using context = std::unique_ptr<rkmm_context, deleter<rkmm_context_destroy>>;

void check(int ret)
{
	if (ret < 0)
		throw std::system_error(-ret, std::generic_category(), rkmm_last_error());
}

/* What a function of librkmm made, owned: make<context>([&](auto p) { return ...(p); }) */
template <typename Owner, typename Make>
Owner make(Make &&call)
{
	typename Owner::pointer object = nullptr;

	check(call(&object));
	return Owner(object);
}

template <typename T>
struct matrix {
	std::size_t rows, cols;
	std::vector<T> data;

	matrix(std::size_t r, std::size_t c) : rows(r), cols(c), data(r * c) {}
	T &at(std::size_t r, std::size_t c) { return data[r * cols + c]; }
	const T &at(std::size_t r, std::size_t c) const { return data[r * cols + c]; }
};

matrix<int8_t> random_matrix(std::size_t rows, std::size_t cols, std::mt19937 &rng)
{
	std::uniform_int_distribution<int> value(-128, 127);
	matrix<int8_t> m(rows, cols);

	for (auto &x : m.data)
		x = static_cast<int8_t>(value(rng));
	return m;
}

bool is_product(const matrix<int8_t> &a, const matrix<int8_t> &b, const matrix<int32_t> &c)
{
	for (std::size_t m = 0; m < a.rows; m++) {
		for (std::size_t n = 0; n < b.cols; n++) {
			int32_t sum = 0;

			for (std::size_t k = 0; k < a.cols; k++)
				sum += a.at(m, k) * b.at(k, n);
			if (c.at(m, n) != sum)
				return false;
		}
	}
	return true;
}

/* Products of one B by several A at once: a context each, B is shared. */
void run()
{
	constexpr uint32_t M = 7, K = 100, N = 45, IN_FLIGHT = 3;
	const auto npu = make<device>([](auto p) { return rkmm_open(nullptr, p); });
	std::mt19937 rng(1);
	const auto b = random_matrix(K, N, rng);
	const auto w = make<weights>([&](auto p) {
		return rkmm_weights_create(npu.get(), DRM_RKMM_I8I32, K, N, b.data.data(), N, 0, p);
	});
	std::vector<matrix<int8_t>> inputs;
	std::vector<context> contexts;
	rkmm_matmul_desc desc = {};

	desc.types = DRM_RKMM_I8I32;
	desc.m = M;
	desc.k = K;
	desc.n = N;
	for (uint32_t i = 0; i < IN_FLIGHT; i++) {
		inputs.push_back(random_matrix(M, K, rng));
		contexts.push_back(make<context>([&](auto p) {
			return rkmm_context_create(npu.get(), &desc, w.get(), p);
		}));
		check(rkmm_context_submit(contexts[i].get(), w.get(), inputs[i].data.data(), K, M));
	}
	for (uint32_t i = 0; i < IN_FLIGHT; i++) {
		matrix<int32_t> c(M, N);

		check(rkmm_context_wait(contexts[i].get(), RKMM_FOREVER));
		check(rkmm_context_read(contexts[i].get(), c.data.data(), N));
		if (!is_product(inputs[i], b, c))
			throw std::runtime_error("product " + std::to_string(i) + " is wrong");
	}

	/* What fails is an exception with the errno, and nothing leaks. */
	desc.k = 0;
	try {
		make<context>([&](auto p) {
			return rkmm_context_create(npu.get(), &desc, nullptr, p);
		});
	} catch (const std::system_error &e) {
		if (e.code() != std::errc::operation_not_supported)
			throw;
		return;
	}
	throw std::runtime_error("a product without columns was not refused");
}

} /* namespace */

int main()
{
	try {
		run();
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	std::puts("3 products in flight, all right");
	return 0;
}
