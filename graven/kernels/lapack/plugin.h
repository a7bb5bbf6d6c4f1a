#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

namespace graven::engine {

// The interface of libgraven_lapack.so: what the kernels need of LAPACK, for one element type.
//
// Matrices are column-major and lie together, m rows by n columns; callers check the sizes. All
// work is done on the calling thread. Functions return 0, a positive number where there is no
// result (a pivot is zero, no convergence), or kLapackNoMemory. Values that are not finite end and
// give some result, but in the functions that say otherwise.

inline constexpr int kLapackNoMemory = -1000;

template <typename T>
struct RealPart {
  using type = T;
};
template <typename T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <typename T>
using RealOf = typename RealPart<T>::type;

enum class Transform : char { kNone = 'N', kTranspose = 'T', kAdjoint = 'C' };
enum class Vectors : char { kNone = 'N', kThin = 'S', kAll = 'A' };

template <typename T>
struct LapackRoutines {
  using Real = RealOf<T>;
  using Complex = std::complex<Real>;

  // C = op(A) op(B), all n by n.
  void (*multiply)(Transform op_a, Transform op_b, int n, const T* a, const T* b, T* c);
  // A = P L U in place. Row i was swapped with row pivots[i] - 1, for each i in order. A positive
  // result: U has a zero on its diagonal.
  int (*lu)(int n, T* a, int* pivots);
  // B := op(A)^-1 B with the factors of lu; B is n by columns.
  int (*solve_lu)(Transform op, int n, int columns, const T* lu, const int* pivots, T* b);
  // The inverse of A in place of the factors of lu.
  int (*invert_lu)(int n, T* lu, const int* pivots);
  // A = U^H U in place, of which only the upper triangles are read and written. A positive result:
  // A is not positive definite.
  int (*cholesky)(int n, T* a);
  // B := B op(A)^-1, where A is triangular, n by n, and B is rows by n.
  void (*solve_triangular)(bool is_upper, Transform op, int rows, int n, const T* a, T* b);
  // A = Q R. R is left in the upper triangle of a; q, m by columns, may have more than n of them.
  int (*qr)(int m, int n, int columns, T* a, T* q);
  // A = U S V^H with s in descending order; A is destroyed, and finite. U is m by min(m, n), or m
  // for all vectors, and V^H likewise.
  int (*svd)(Vectors vectors, int m, int n, T* a, Real* s, T* u, T* vh);
  // The eigenvalues of a Hermitian matrix, ascending, and its eigenvectors in place of it. Only the
  // upper triangle is read; it is finite.
  int (*eigh)(bool wants_vectors, int n, T* a, Real* values);
  // Eigenvalues and, unless null, right eigenvectors of length 1. A is destroyed, and finite.
  int (*eig)(int n, T* a, Complex* values, Complex* vectors);
  // Of complex matrices: A = Q T Q^H with T upper triangular in place of A, which is finite.
  int (*schur)(int n, T* a, T* q);
};

struct Lapack {
  // Must have returned true on a thread before it calls anything else; false: no memory. What it
  // got stays with the thread.
  bool (*prepare_thread)();
  LapackRoutines<float> of_float;
  LapackRoutines<double> of_double;
  LapackRoutines<std::complex<float>> of_complex64;
  LapackRoutines<std::complex<double>> of_complex128;

  template <typename T>
  const LapackRoutines<T>& of() const {
    if constexpr (std::is_same_v<T, float>) {
      return of_float;
    } else if constexpr (std::is_same_v<T, double>) {
      return of_double;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
      return of_complex64;
    } else {
      return of_complex128;
    }
  }
};

// The plugin's only exported symbol, of type LapackFactory. The object lives as long as the
// process.
using LapackFactory = const Lapack*();
inline constexpr char kLapackFactoryName[] = "graven_lapack";

}  // namespace graven::engine
