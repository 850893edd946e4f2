// Times functions of one quantity in turn: MODEL STATES RESULTS
// Compiled with -DQUANTITY=0 (inverse dynamics) or 1 (forward dynamics derivatives), -DCASADI=0 or 1.
#include <pinocchio/fwd.hpp>

#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <vector>

#include "ours.h"

extern "C" {
int theirs(const double **arguments, double **results, long long *iw, double *w, int memory);
int theirs_work(long long *arguments, long long *results, long long *iw, long long *w);
}

using Vector = Eigen::VectorXd;
using Clock = std::chrono::steady_clock;
constexpr int ROUNDS = 41, CHECKED = 5;
constexpr double SECONDS = 2e-3; // of a contestant in a round

struct State
{
    Vector q, v, u;
};

static std::vector<double> numbers(const char *file)
{
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    std::vector<double> values(static_cast<size_t>(stream.tellg()) / sizeof(double));
    stream.seekg(0);
    stream.read(reinterpret_cast<char *>(values.data()), static_cast<long>(values.size() * 8));
    return values;
}

// The seconds of one call over all states.
template <typename Call>
static double timed(const std::vector<State> &states, const Call &call)
{
    long calls = 0;
    const auto start = Clock::now();
    double passed = 0.0;
    while (passed < SECONDS) {
        for (const State &state : states)
            call(state);
        calls += static_cast<long>(states.size());
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return passed / static_cast<double>(calls);
}

int main(int, char **files)
{
    pinocchio::Model model;
    pinocchio::serialization::loadFromText(model, files[1]);
    pinocchio::Data data(model);
    const int nq = model.nq, nv = model.nv;
    const std::vector<double> all = numbers(files[2]);
    std::vector<State> states;
    for (size_t at = 0; at < all.size(); at += static_cast<size_t>(nq + 2 * nv)) {
        const double *x = all.data() + at;
        states.push_back({Eigen::Map<const Vector>(x, nq), Eigen::Map<const Vector>(x + nq, nv),
                          Eigen::Map<const Vector>(x + nq + nv, nv)});
    }
    const int count = QUANTITY == 0 ? nv : 3 * nv * nv, part = QUANTITY == 0 ? nv : nv * nv;
    Vector out(count);

    const auto ours = [&](const State &s) {
        double *y = out.data();
#if QUANTITY == 0
        ours_function(s.q.data(), s.v.data(), s.u.data(), y);
#else
        ours_function(s.q.data(), s.v.data(), s.u.data(), y, y + part, y + 2 * part);
#endif
    };
    const auto pinocchios = [&](const State &s) {
#if QUANTITY == 0
        pinocchio::rnea(model, data, s.q, s.v, s.u);
#else
        pinocchio::computeABADerivatives(model, data, s.q, s.v, s.u);
#endif
    };
#if CASADI
    long long sizes[4];
    theirs_work(sizes, sizes + 1, sizes + 2, sizes + 3);
    std::vector<const double *> arguments(static_cast<size_t>(sizes[0]));
    std::vector<double *> results(static_cast<size_t>(sizes[1]));
    std::vector<long long> iw(static_cast<size_t>(sizes[2]) + 1);
    std::vector<double> w(static_cast<size_t>(sizes[3]) + 1);
    const auto casadis = [&](const State &s) {
        arguments[0] = s.q.data();
        arguments[1] = s.v.data();
        arguments[2] = s.u.data();
        for (int k = 0; k < (QUANTITY == 0 ? 1 : 3); ++k)
            results[static_cast<size_t>(k)] = out.data() + k * part;
        theirs(arguments.data(), results.data(), iw.data(), w.data(), 0);
    };
#endif

    // the results of some states, to be checked before a time is believed
    std::ofstream found(files[3], std::ios::binary);
    const auto write = [&] {
        found.write(reinterpret_cast<const char *>(out.data()), static_cast<long>(count) * 8);
    };
    for (int k = 0; k < CHECKED; ++k) {
        const State &s = states[static_cast<size_t>(k)];
        ours(s);
        write();
        pinocchios(s);
#if QUANTITY == 0
        out = data.tau;
#else
        // by columns, however Pinocchio keeps them
        const Eigen::MatrixXd by_q = data.ddq_dq, by_v = data.ddq_dv, inverse = data.Minv;
        out << Eigen::Map<const Vector>(by_q.data(), part),
            Eigen::Map<const Vector>(by_v.data(), part),
            Eigen::Map<const Vector>(inverse.data(), part);
#endif
        write();
#if CASADI
        casadis(s);
        write();
#endif
    }

    std::vector<double> times[3];
    for (int round = 0; round < ROUNDS; ++round) {
        times[0].push_back(timed(states, ours));
        times[1].push_back(timed(states, pinocchios));
#if CASADI
        times[2].push_back(timed(states, casadis));
#endif
    }
    for (auto &seconds : times) {
        if (seconds.empty())
            continue;
        std::sort(seconds.begin(), seconds.end());
        std::printf("%.4g\n", seconds[seconds.size() / 2]);
    }
}
