#pragma once

namespace hone {

// Elementary functions by +, -, * and / alone: the same bits on every machine, which libm does not
// promise. Accurate to a few units in the last place of a double.

double NaturalLog(double x);                              // x > 0 and finite
double Exponential(double x);                             // 0 below -745, infinity above 709.78
void SineCosine(double x, double* sine, double* cosine);  // |x| < 1e6

inline double Sine(double x) {
  double sine, cosine;
  SineCosine(x, &sine, &cosine);
  return sine;
}
inline double Cosine(double x) {
  double sine, cosine;
  SineCosine(x, &sine, &cosine);
  return cosine;
}

}  // namespace hone
