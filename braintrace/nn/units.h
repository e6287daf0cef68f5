// SPDX-License-Identifier: Apache-2.0
// Physical quantities in the interface of the library. Internally, everything is a plain number in ms, mV, mA, so mV/mA
// = Ω, mA/mV = S, 1/ms = kHz, and no conversion factors are needed. The C++ compiler checks dimensions:
//
//   using namespace bt::units;
//   LIF(100, {.tau = 20_ms, .V_th = 1_mV});          .tau = 1_mV does not compile
//   double p = 100_Hz * 1_ms;                         0.1
#pragma once

namespace braintrace::units {

// ms^T mV^V mA^I
template <int T, int V, int I>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}

  constexpr Quantity operator+(Quantity o) const { return Quantity(value + o.value); }
  constexpr Quantity operator-(Quantity o) const { return Quantity(value - o.value); }
  constexpr Quantity operator-() const { return Quantity(-value); }
  constexpr Quantity operator*(double s) const { return Quantity(value * s); }
  constexpr Quantity operator/(double s) const { return Quantity(value / s); }
  constexpr auto     operator<=>(const Quantity&) const = default;
};

template <int T, int V, int I>
constexpr Quantity<T, V, I> operator*(double s, Quantity<T, V, I> q) {
  return q * s;
}
// Products and quotients; a result without dimension is a plain number.
template <int T, int V, int I>
constexpr auto collapsed(double v) {
  if constexpr (T == 0 && V == 0 && I == 0)
    return v;
  else
    return Quantity<T, V, I>(v);
}
template <int T, int V, int I, int T2, int V2, int I2>
constexpr auto operator*(Quantity<T, V, I> a, Quantity<T2, V2, I2> b) {
  return collapsed<T + T2, V + V2, I + I2>(a.value * b.value);
}
template <int T, int V, int I, int T2, int V2, int I2>
constexpr auto operator/(Quantity<T, V, I> a, Quantity<T2, V2, I2> b) {
  return collapsed<T - T2, V - V2, I - I2>(a.value / b.value);
}

using Time        = Quantity<1, 0, 0>;
using Voltage     = Quantity<0, 1, 0>;
using Current     = Quantity<0, 0, 1>;
using Resistance  = Quantity<0, 1, -1>;
using Conductance = Quantity<0, -1, 1>;
using Frequency   = Quantity<-1, 0, 0>;

inline namespace literals {

constexpr Time        operator""_ms(long double v) { return Time(static_cast<double>(v)); }
constexpr Time        operator""_ms(unsigned long long v) { return Time(static_cast<double>(v)); }
constexpr Time        operator""_s(long double v) { return Time(static_cast<double>(v) * 1e3); }
constexpr Time        operator""_s(unsigned long long v) { return Time(static_cast<double>(v) * 1e3); }
constexpr Voltage     operator""_mV(long double v) { return Voltage(static_cast<double>(v)); }
constexpr Voltage     operator""_mV(unsigned long long v) { return Voltage(static_cast<double>(v)); }
constexpr Voltage     operator""_V(long double v) { return Voltage(static_cast<double>(v) * 1e3); }
constexpr Voltage     operator""_V(unsigned long long v) { return Voltage(static_cast<double>(v) * 1e3); }
constexpr Current     operator""_mA(long double v) { return Current(static_cast<double>(v)); }
constexpr Current     operator""_mA(unsigned long long v) { return Current(static_cast<double>(v)); }
constexpr Current     operator""_A(long double v) { return Current(static_cast<double>(v) * 1e3); }
constexpr Current     operator""_A(unsigned long long v) { return Current(static_cast<double>(v) * 1e3); }
constexpr Resistance  operator""_ohm(long double v) { return Resistance(static_cast<double>(v)); }
constexpr Resistance  operator""_ohm(unsigned long long v) { return Resistance(static_cast<double>(v)); }
constexpr Conductance operator""_S(long double v) { return Conductance(static_cast<double>(v)); }
constexpr Conductance operator""_S(unsigned long long v) { return Conductance(static_cast<double>(v)); }
constexpr Frequency   operator""_Hz(long double v) { return Frequency(static_cast<double>(v) * 1e-3); }
constexpr Frequency   operator""_Hz(unsigned long long v) { return Frequency(static_cast<double>(v) * 1e-3); }

}  // namespace literals

}  // namespace braintrace::units
