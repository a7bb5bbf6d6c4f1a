#include "graven/kernels/lapack/plugin.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "graven/base/calls_until_exit.h"
#include "graven/kernels/lapack/fortran.h"
#include "graven/kernels/lapack/working_memory.h"

namespace graven::engine {
namespace {

template <typename T>
constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Memory = std::unique_ptr<T[], Free>;
// Null without memory. One element at least.
template <typename T>
Memory<T> allocate(int64_t n) {
  return Memory<T>(
      static_cast<T*>(std::malloc(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T))));
}

// The size of working memory as a routine tells it: a float, which may have been rounded down.
template <typename T>
int work_size(T told) {
  const double wanted = std::ceil(static_cast<double>(std::real(told)) * (1 + 1e-6)) + 1;
  return static_cast<int>(std::min<double>(wanted, std::numeric_limits<int>::max()));
}

// Calls routine(work, size, info), first for the size, then with as much memory. The size depends
// on the arguments in `key`, and is asked for where they differ from those of the last call of this
// routine: among many small matrices it would take as long as the work itself.
template <typename T, typename F>
int with_work(std::array<int, 3> key, F&& routine) {
  thread_local std::array<int, 3> last_key = {-1};
  thread_local int last_size = 0;
  int info = 0;
  if (key != last_key) {
    T told = {};
    const int ask = -1;
    routine(&told, &ask, &info);
    if (info != 0) return info;
    last_key = key;
    last_size = work_size(told);
  }
  const int size = last_size;
  const Memory<T> work = allocate<T>(size);
  if (!work) return kLapackNoMemory;
  routine(work.get(), &size, &info);
  return info;
}

template <typename T>
void multiply(Transform op_a, Transform op_b, int n, const T* a, const T* b, T* c) {
  const T one(1), zero(0);
  const char of_a = static_cast<char>(op_a), of_b = static_cast<char>(op_b);
  Fortran<T>::gemm(&of_a, &of_b, &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

template <typename T>
int lu(int n, T* a, int* pivots) {
  int info = 0;
  Fortran<T>::getrf(&n, &n, a, &n, pivots, &info);
  return info;
}

template <typename T>
int solve_lu(Transform op, int n, int columns, const T* factors, const int* pivots, T* b) {
  int info = 0;
  const char transform = static_cast<char>(op);
  Fortran<T>::getrs(&transform, &n, &columns, factors, &n, pivots, b, &n, &info, 1);
  return info;
}

template <typename T>
int invert_lu(int n, T* lu, const int* pivots) {
  return with_work<T>({n, 0, 0}, [&](T* work, const int* size, int* info) {
    Fortran<T>::getri(&n, lu, &n, pivots, work, size, info);
  });
}

template <typename T>
int cholesky(int n, T* a) {
  int info = 0;
  Fortran<T>::potrf("U", &n, a, &n, &info, 1);
  return info;
}

template <typename T>
void solve_triangular(bool is_upper, Transform op, int rows, int n, const T* a, T* b) {
  const T one(1);
  const char transform = static_cast<char>(op);
  Fortran<T>::trsm("R", is_upper ? "U" : "L", &transform, "N", &rows, &n, &one, a, &n, b, &rows, 1,
                   1, 1, 1);
}

template <typename T>
int qr(int m, int n, int columns, T* a, T* q) {
  const int k = std::min(m, n);
  const Memory<T> factors = allocate<T>(k);
  if (!factors) return kLapackNoMemory;
  const int info = with_work<T>({m, n, 0}, [&](T* work, const int* size, int* found) {
    Fortran<T>::geqrf(&m, &n, a, &m, factors.get(), work, size, found);
  });
  if (info != 0) return info;
  std::copy_n(a, static_cast<size_t>(m) * static_cast<size_t>(std::min(columns, n)), q);
  return with_work<T>({m, columns, k}, [&](T* work, const int* size, int* found) {
    Fortran<T>::orgqr(&m, &columns, &k, q, &m, factors.get(), work, size, found);
  });
}

template <typename T>
int svd(Vectors vectors, int m, int n, T* a, RealOf<T>* s, T* u, T* vh) {
  const int k = std::min(m, n);
  const char job = static_cast<char>(vectors);
  const int rows_of_vh = vectors == Vectors::kAll ? n : k;
  const Memory<int> integers = allocate<int>(8 * int64_t{k});
  const int64_t larger = std::max(m, n), smaller = k;
  const int64_t reals =
      kIsComplex<T> ? smaller * std::max(5 * smaller + 7, 2 * larger + 2 * smaller + 1) : 0;
  const auto real_work = allocate<RealOf<T>>(reals);
  if (!integers || !real_work) return kLapackNoMemory;
  return with_work<T>({m, n, job}, [&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>) {
      Fortran<T>::gesdd(&job, &m, &n, a, &m, s, u, &m, vh, &rows_of_vh, work, size, real_work.get(),
                        integers.get(), info, 1);
    } else {
      Fortran<T>::gesdd(&job, &m, &n, a, &m, s, u, &m, vh, &rows_of_vh, work, size, integers.get(),
                        info, 1);
    }
  });
}

template <typename T>
int eigh(bool wants_vectors, int n, T* a, RealOf<T>* values) {
  const char* job = wants_vectors ? "V" : "N";
  const int64_t wide = n;
  const int num_integers = wants_vectors ? 3 + 5 * n : 1;
  const auto num_reals = static_cast<int>(
      std::min<int64_t>(wants_vectors ? 1 + 5 * wide + 2 * wide * wide : std::max<int64_t>(wide, 1),
                        std::numeric_limits<int>::max()));
  const Memory<int> integers = allocate<int>(num_integers);
  const auto reals = allocate<RealOf<T>>(kIsComplex<T> ? num_reals : 0);
  if (!integers || !reals) return kLapackNoMemory;
  return with_work<T>({n, wants_vectors, 0}, [&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>) {
      Fortran<T>::heevd(job, "U", &n, a, &n, values, work, size, reals.get(), &num_reals,
                        integers.get(), &num_integers, info, 1, 1);
    } else {
      Fortran<T>::heevd(job, "U", &n, a, &n, values, work, size, integers.get(), &num_integers,
                        info, 1, 1);
    }
  });
}

// The eigenvectors of real matrices come as they are for real eigenvalues, and for each pair of
// conjugate ones as the real parts of the first's vector and its imaginary parts.
template <typename R>
int eig_of_real(int n, R* a, std::complex<R>* values, std::complex<R>* vectors) {
  const auto reals = allocate<R>(n), imags = allocate<R>(n);
  const int64_t size_of_vectors = vectors ? int64_t{n} * n : 1;
  const auto packed = allocate<R>(size_of_vectors);
  if (!reals || !imags || !packed) return kLapackNoMemory;
  const char* job = vectors ? "V" : "N";
  const int info =
      with_work<R>({n, vectors != nullptr, 0}, [&](R* work, const int* size, int* found) {
        Fortran<R>::geev("N", job, &n, a, &n, reals.get(), imags.get(), packed.get(), &n,
                         packed.get(), &n, work, size, found, 1, 1);
      });
  if (info != 0) return info;
  for (int j = 0; j < n; ++j) values[j] = {reals[j], imags[j]};
  for (int j = 0; vectors && j < n; ++j) {
    const R* x = packed.get() + int64_t{j} * n;
    std::complex<R>* v = vectors + int64_t{j} * n;
    if (imags[j] == 0 || j + 1 == n) {
      std::copy_n(x, n, v);
      continue;
    }
    for (int i = 0; i < n; ++i) {
      v[i] = {x[i], x[n + i]};
      v[n + i] = {x[i], -x[n + i]};
    }
    ++j;
  }
  return 0;
}

template <typename T>
int eig(int n, T* a, std::complex<RealOf<T>>* values, std::complex<RealOf<T>>* vectors) {
  if constexpr (!kIsComplex<T>) {
    return eig_of_real<T>(n, a, values, vectors);
  } else {
    const auto reals = allocate<RealOf<T>>(2 * int64_t{n});
    if (!reals) return kLapackNoMemory;
    T none = {};
    T* right = vectors ? vectors : &none;
    const char* job = vectors ? "V" : "N";
    return with_work<T>({n, vectors != nullptr, 0}, [&](T* work, const int* size, int* info) {
      Fortran<T>::geev("N", job, &n, a, &n, values, &none, &n, right, &n, work, size, reals.get(),
                       info, 1, 1);
    });
  }
}

template <typename T>
int schur(int n, T* a, T* q) {
  const Memory<T> values = allocate<T>(n);
  const auto reals = allocate<RealOf<T>>(n);
  if (!values || !reals) return kLapackNoMemory;
  int sorted = 0, unused = 0;
  return with_work<T>({n, 0, 0}, [&](T* work, const int* size, int* info) {
    Fortran<T>::gees("V", "N", nullptr, &n, a, &n, &sorted, values.get(), q, &n, work, size,
                     reals.get(), &unused, info, 1, 1);
  });
}

// OpenBLAS forgets at exit which kernels suit the processor.
CallsUntilExit calls;

struct Call {
  Call() { calls.enter(); }
  ~Call() { calls.leave(); }
  Call(const Call&) = delete;
};

template <auto kRoutine>
struct Counted;
template <typename R, typename... Arguments, R (*kRoutine)(Arguments...)>
struct Counted<kRoutine> {
  static R run(Arguments... arguments) {
    Call call;
    return kRoutine(arguments...);
  }
};

template <typename T>
LapackRoutines<T> routines() {
  LapackRoutines<T> all = {Counted<multiply<T>>::run,
                           Counted<lu<T>>::run,
                           Counted<solve_lu<T>>::run,
                           Counted<invert_lu<T>>::run,
                           Counted<cholesky<T>>::run,
                           Counted<solve_triangular<T>>::run,
                           Counted<qr<T>>::run,
                           Counted<svd<T>>::run,
                           Counted<eigh<T>>::run,
                           Counted<eig<T>>::run,
                           nullptr};
  if constexpr (kIsComplex<T>) all.schur = Counted<schur<T>>::run;
  return all;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const Lapack* graven_lapack() {
  static const Lapack* all = [] {
    pthread_atfork(nullptr, nullptr, [] { calls.forget(); });
    return new Lapack{prepare_working_memory, routines<float>(), routines<double>(),
                      routines<std::complex<float>>(), routines<std::complex<double>>()};
  }();
  return all;
}

__attribute__((visibility("default"))) void graven_end_calls() { calls.end(); }

// LAPACK reports arguments that it refuses by this routine, which may end the program. Those that
// it gets from here are checked before.
int xerbla_(const char*, const int*, size_t) { return 0; }

// The one function that LAPACK calls in the run-time library of GNU Fortran: a // b, cut or filled
// up with blanks.
void _gfortran_concat_string(size_t size, char* to, size_t size_a, const char* a, size_t size_b,
                             const char* b) {
  const size_t of_a = std::min(size, size_a), of_b = std::min(size - of_a, size_b);
  std::memcpy(to, a, of_a);
  std::memcpy(to + of_a, b, of_b);
  std::memset(to + of_a + of_b, ' ', size - of_a - of_b);
}

}  // extern "C"

}  // namespace graven::engine
