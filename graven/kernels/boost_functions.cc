#include "graven/kernels/boost_functions.h"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <limits>

namespace graven::engine {
namespace {

namespace math = boost::math;
namespace policies = boost::math::policies;

using Policy = policies::policy<
    policies::denorm_error<policies::ignore_error>, policies::domain_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::promote_double<false>, policies::rounding_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>>;

// A series that does not converge gives any number.
double as_share(double x) {
  return x >= 0 && x <= 1 ? x : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double bessel_k0(double x) { return math::cyl_bessel_k(0, x, Policy()); }
double bessel_k1(double x) { return math::cyl_bessel_k(1, x, Policy()); }

double log1p_minus(double x) { return math::log1pmx(x, Policy()); }

double exponential_integral(double x) { return math::expint(x, Policy()); }

double gamma_share_below(double a, double x) { return as_share(math::gamma_p(a, x, Policy())); }
double gamma_share_above(double a, double x) { return as_share(math::gamma_q(a, x, Policy())); }
double gamma_density(double a, double x) { return math::gamma_p_derivative(a, x, Policy()); }

double beta_share_below(double a, double b, double x) {
  return as_share(math::ibeta(a, b, x, Policy()));
}

}  // namespace graven::engine
