import { count, invalid } from './checks.ts';

/** Quantile of Student's t with `df` degrees of freedom, for p in (0, 1); by bisection of the distribution function. */
export function studentQuantile(p: number, df: number): number {
  if (!(p > 0 && p < 1)) invalid('p', p, 'between 0 and 1, both excluded');
  if (count('degrees of freedom', df) === 0) invalid('degrees of freedom', df, 'at least 1');
  if (p < 0.5) return -studentQuantile(1 - p, df);
  let [low, high] = [0, 1];
  while (studentCdf(high, df) < p) high *= 2;
  for (let i = 0; i < 64; i++) {
    const middle = (low + high) / 2;
    if (studentCdf(middle, df) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(T <= t) for t >= 0, through the regularised incomplete beta function. */
function studentCdf(t: number, df: number): number {
  const x = df / (df + t * t);
  return 1 - incompleteBeta(x, df / 2, 0.5) / 2;
}

/** I_x(a, b); the continued fraction converges fast on the side where it is used. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** Lentz's evaluation of the continued fraction (DLMF 8.17.22). */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const keep = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / keep(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let step = 1;
    for (const term of [even, odd]) {
      d = 1 / keep(1 + term * d);
      c = keep(1 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (Math.abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

/** Stirling's series after shifting the argument above 10; absolute error below 1e-13. */
function logGamma(x: number): number {
  let [shifted, correction] = [x, 0];
  while (shifted < 10) {
    correction -= Math.log(shifted);
    shifted += 1;
  }
  const inverse = 1 / shifted;
  const square = inverse * inverse;
  const series =
    inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
  return correction + (shifted - 0.5) * Math.log(shifted) - shifted + Math.log(2 * Math.PI) / 2 + series;
}
