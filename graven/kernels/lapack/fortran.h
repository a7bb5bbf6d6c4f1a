#pragma once
#include <complex>
#include <cstddef>

namespace graven::engine {

// LAPACK's symbols, as GNU Fortran names and calls them: arguments are pointers, and the length of
// each text comes behind all others. Fortran<T> has those of one element type by the names that
// they share.
template <typename T>
struct Fortran;

// NOLINTBEGIN(bugprone-macro-parentheses): p, q and he are pieces of names.
#define GRAVEN_FORTRAN_SHARED(T, p, q)                                                            \
  void p##gemm_(const char*, const char*, const int*, const int*, const int*, const T*, const T*, \
                const int*, const T*, const int*, const T*, T*, const int*, size_t, size_t);      \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                             \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*,       \
                 const int*, int*, size_t);                                                       \
  void p##getri_(const int*, T*, const int*, const int*, T*, const int*, int*);                   \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                          \
  void p##trsm_(const char*, const char*, const char*, const char*, const int*, const int*,       \
                const T*, const T*, const int*, T*, const int*, size_t, size_t, size_t, size_t);  \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);               \
  void p##q##_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
#define GRAVEN_FORTRAN_REAL(T, p)                                                                 \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,     \
                 const int*, T*, const int*, int*, int*, size_t);                                 \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,  \
                 const int*, int*, size_t, size_t);                                               \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*, \
                const int*, T*, const int*, int*, size_t, size_t);
#define GRAVEN_FORTRAN_COMPLEX(T, R, p)                                                          \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,    \
                 const int*, T*, const int*, R*, int*, int*, size_t);                            \
  void p##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,   \
                 const int*, int*, const int*, int*, size_t, size_t);                            \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,    \
                const int*, T*, const int*, R*, int*, size_t, size_t);                           \
  void p##gees_(const char*, const char*, const void*, const int*, T*, const int*, int*, T*, T*, \
                const int*, T*, const int*, R*, int*, int*, size_t, size_t);

extern "C" {
GRAVEN_FORTRAN_SHARED(float, s, orgqr)
GRAVEN_FORTRAN_SHARED(double, d, orgqr)
GRAVEN_FORTRAN_SHARED(std::complex<float>, c, ungqr)
GRAVEN_FORTRAN_SHARED(std::complex<double>, z, ungqr)
GRAVEN_FORTRAN_REAL(float, s)
GRAVEN_FORTRAN_REAL(double, d)
GRAVEN_FORTRAN_COMPLEX(std::complex<float>, float, c)
GRAVEN_FORTRAN_COMPLEX(std::complex<double>, double, z)
}

#define GRAVEN_FORTRAN_NAMES(p, q, he)       \
  static constexpr auto gemm = p##gemm_;     \
  static constexpr auto getrf = p##getrf_;   \
  static constexpr auto getrs = p##getrs_;   \
  static constexpr auto getri = p##getri_;   \
  static constexpr auto potrf = p##potrf_;   \
  static constexpr auto trsm = p##trsm_;     \
  static constexpr auto geqrf = p##geqrf_;   \
  static constexpr auto orgqr = p##q##_;     \
  static constexpr auto gesdd = p##gesdd_;   \
  static constexpr auto heevd = p##he##evd_; \
  static constexpr auto geev = p##geev_;

template <>
struct Fortran<float> {
  GRAVEN_FORTRAN_NAMES(s, orgqr, sy)
};
template <>
struct Fortran<double> {
  GRAVEN_FORTRAN_NAMES(d, orgqr, sy)
};
template <>
struct Fortran<std::complex<float>> {
  GRAVEN_FORTRAN_NAMES(c, ungqr, he)
  static constexpr auto gees = cgees_;
};
template <>
struct Fortran<std::complex<double>> {
  GRAVEN_FORTRAN_NAMES(z, ungqr, he)
  static constexpr auto gees = zgees_;
};
// NOLINTEND(bugprone-macro-parentheses)

#undef GRAVEN_FORTRAN_SHARED
#undef GRAVEN_FORTRAN_REAL
#undef GRAVEN_FORTRAN_COMPLEX
#undef GRAVEN_FORTRAN_NAMES

}  // namespace graven::engine
