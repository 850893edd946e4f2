// Prints the C code that CasADi generates from Pinocchio's own algorithms: MODEL QUANTITY NAME
#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <string>
#include <vector>

using casadi::SX;
using Matrix = Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic>;

template <typename M>
static SX dense(const M &matrix)
{
    SX result = SX::zeros(matrix.rows(), matrix.cols());
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
            result(i, j) = matrix(i, j);
    return casadi::SX::densify(result);
}

int main(int, char **arguments)
{
    pinocchio::Model real;
    pinocchio::serialization::loadFromText(real, arguments[1]);
    const auto model = real.cast<SX>();
    pinocchio::DataTpl<SX> data(model);
    const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), u = SX::sym("u", model.nv);
    Eigen::Matrix<SX, Eigen::Dynamic, 1> qs(model.nq), vs(model.nv), us(model.nv);
    pinocchio::casadi::copy(q, qs);
    pinocchio::casadi::copy(v, vs);
    pinocchio::casadi::copy(u, us);
    std::vector<SX> results;
    if (std::string(arguments[2]) == "inverse_dynamics") {
        results = {dense(pinocchio::rnea(model, data, qs, vs, us))};
    } else {
        pinocchio::computeABADerivatives(model, data, qs, vs, us);
        results = {dense(data.ddq_dq), dense(data.ddq_dv), dense(data.Minv)};
    }
    casadi::Function(arguments[3], {q, v, u}, results).generate(std::string(arguments[3]) + ".c");
}
