#include "graven/kernels/lapack/small_svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace graven::engine {
namespace {

constexpr int kMostSweeps = 30;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Below this part of the largest singular value the direction of a column is noise.
constexpr double kLeastPart = 64 * kEpsilon;
constexpr double kLeastSquare = 1e-280, kMostSquare = 1e280;

// Filled up with zeros.
template <int kSize>
struct Columns {
  double w[kSize][kSize] = {};  // A V
  double v[kSize][kSize] = {};
};

template <int kSize>
double dot(const double (&a)[kSize], const double (&b)[kSize]) {
  double sum = 0;
#pragma GCC unroll 8
  for (int i = 0; i < kSize; ++i) sum += a[i] * b[i];
  return sum;
}

template <int kSize>
void rotate(double (&a)[kSize], double (&b)[kSize], double cosine, double sine) {
#pragma GCC unroll 8
  for (int i = 0; i < kSize; ++i) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

// One rotation for each two columns; false if all were orthogonal, but for `tolerance`.
template <int kSize>
bool sweep(Columns<kSize>& c, int columns, double tolerance) {
  bool is_turned = false;
  for (int p = 0; p + 1 < columns; ++p) {
    for (int q = p + 1; q < columns; ++q) {
      const double a = dot(c.w[p], c.w[p]), b = dot(c.w[q], c.w[q]);
      const double both = dot(c.w[p], c.w[q]);
      if (both * both <= tolerance * tolerance * a * b) continue;
      is_turned = true;
      const double zeta = (b - a) / (2 * both);
      const double tangent = std::copysign(1, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
      const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
      rotate(c.w[p], c.w[q], cosine, sine);
      rotate(c.v[p], c.v[q], cosine, sine);
    }
  }
  return is_turned;
}

// What is in column i and row j of a matrix, or of its transpose.
template <typename T>
T& at(T* matrix, int rows, int columns, bool is_transposed, int i, int j) {
  return is_transposed ? matrix[i + j * columns] : matrix[i * rows + j];
}

template <int kSize, typename T>
bool decompose(Vectors vectors, int m, int n, const T* a, T* s, T* u, T* vh) {
  // Of A^T = U S V^H where A has more columns than rows.
  const bool is_wide = m < n;
  const int rows = std::max(m, n), columns = std::min(m, n);
  Columns<kSize> c;
  double largest = 0;
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < rows; ++j) c.w[i][j] = at(a, rows, columns, is_wide, i, j);
    c.v[i][i] = 1;
    largest = std::max(largest, dot(c.w[i], c.w[i]));
  }
  if (!(largest > kLeastSquare && largest < kMostSquare)) return false;
  // Rounded to floats, less is enough: the error left is the square of this one.
  const double tolerance = sizeof(T) == sizeof(double) ? 2 * kEpsilon : 1e-10;
  int sweeps = 0;
  while (sweep(c, columns, tolerance)) {
    if (++sweeps == kMostSweeps) return false;
  }
  std::pair<double, int> lengths[kSize];
  for (int i = 0; i < columns; ++i) lengths[i] = {-std::sqrt(dot(c.w[i], c.w[i])), i};
  std::sort(lengths, lengths + columns);
  if (!(-lengths[columns - 1].first > kLeastPart * -lengths[0].first)) return false;
  for (int i = 0; i < columns; ++i) {
    const double length = -lengths[i].first;
    const double *w = c.w[lengths[i].second], *v = c.v[lengths[i].second];
    s[i] = static_cast<T>(length);
    if (vectors == Vectors::kNone) continue;
    // The left vectors of A^T are the right ones of A.
    for (int j = 0; j < rows; ++j) {
      (is_wide ? vh[i + j * columns] : u[i * rows + j]) = static_cast<T>(w[j] / length);
    }
    for (int j = 0; j < columns; ++j) {
      (is_wide ? u[i * columns + j] : vh[i + j * columns]) = static_cast<T>(v[j]);
    }
  }
  return true;
}

template <typename T>
bool decompose_small(Vectors vectors, int m, int n, const T* a, T* s, T* u, T* vh) {
  const int larger = std::max(m, n);
  if (larger > 8 || (vectors == Vectors::kAll && m != n)) return false;
  return larger > 4 ? decompose<8>(vectors, m, n, a, s, u, vh)
                    : decompose<4>(vectors, m, n, a, s, u, vh);
}

}  // namespace

bool small_svd(Vectors vectors, int m, int n, const float* a, float* s, float* u, float* vh) {
  return decompose_small(vectors, m, n, a, s, u, vh);
}

bool small_svd(Vectors vectors, int m, int n, const double* a, double* s, double* u, double* vh) {
  return decompose_small(vectors, m, n, a, s, u, vh);
}

}  // namespace graven::engine
