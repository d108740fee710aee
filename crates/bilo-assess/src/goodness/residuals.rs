//! Tests of residuals: noise has no pattern.
//!
//! A model that is wrong leaves residuals that are alike where their places are near to each other. So both tests along a
//! coordinate are one-sided: residuals that change their sign too often are what a fit leaves of few data.

use crate::outcome::{ResidualTest, TestKind};
use bilo_problem::Problem;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Fewer pairs of neighbours than this say nothing.
const FEWEST_PAIRS: usize = 8;

/// Fewer residuals than this have no distribution.
const FEWEST_NORMAL: usize = 20;

/// Neighbours of a place that does not lie in a row.
const NEIGHBOURS: usize = 8;

/// Most places that are compared with each other.
const MOST_PLACES: usize = 4000;

/// Permutations that say how Moran's I varies if places mean nothing.
const PERMUTATIONS: usize = 200;

/// Where the data lie: one column per coordinate, with its name.
pub struct Places<'a> {
    columns: Vec<(&'a str, &'a [f64])>,
    /// Data of different numbers are no neighbours; none where all may be.
    apart: Option<&'a [usize]>,
}

impl<'a> Places<'a> {
    /// The places of an observation of a problem.
    pub fn new(problem: &'a Problem, coordinates: &'a [Vec<f64>]) -> Places<'a> {
        let named = problem.coordinates.iter().zip(coordinates);
        Places::of(named.map(|(coordinate, column)| (&coordinate.name[..], &column[..])).collect())
    }

    /// Columns by name; those along which nothing changes do not count.
    pub fn of(mut columns: Vec<(&'a str, &'a [f64])>) -> Places<'a> {
        columns.retain(|(_, column)| column.iter().any(|value| *value != column[0]));
        Places { columns, apart: None }
    }

    /// With a number for each datum; those of different numbers are no neighbours.
    pub fn apart(self, numbers: &'a [usize]) -> Places<'a> {
        Places { apart: Some(numbers), ..self }
    }

    /// Rows of places along a coordinate: the others the same, sorted by this one.
    fn rows(&self, along: usize) -> Vec<Vec<usize>> {
        let count = self.columns[along].1.len();
        let key = |i: usize| -> Vec<u64> {
            let others = self.columns.iter().enumerate().filter(|(other, _)| *other != along);
            let own = self.apart.map(|numbers| numbers[i] as u64);
            own.into_iter().chain(others.map(|(_, (_, column))| (column[i] + 0.0).to_bits())).collect()
        };
        let mut order: Vec<usize> = (0..count).collect();
        let keys: Vec<Vec<u64>> = (0..count).map(key).collect();
        let column = self.columns[along].1;
        order.sort_by(|&a, &b| keys[a].cmp(&keys[b]).then(column[a].total_cmp(&column[b])));
        let rows = order.chunk_by(|&a, &b| keys[a] == keys[b]);
        rows.filter(|row| row.len() > 1).map(<[usize]>::to_vec).collect()
    }

    /// The nearest neighbours of some places, each coordinate in units of its range.
    fn neighbours(&self, places: &[usize]) -> Vec<Vec<usize>> {
        let scaled: Vec<Vec<f64>> = self
            .columns
            .iter()
            .map(|(_, column)| {
                let (least, most) = column
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)));
                places.iter().map(|&i| (column[i] - least) / (most - least)).collect()
            })
            .collect();
        let distance =
            |a: usize, b: usize| scaled.iter().map(|column| (column[a] - column[b]).powi(2)).sum::<f64>();
        let nearest = |a: usize| {
            let mut others: Vec<(f64, usize)> =
                (0..places.len()).filter(|&b| b != a).map(|b| (distance(a, b), b)).collect();
            let count = NEIGHBOURS.min(others.len());
            if count < others.len() {
                others.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            }
            let mut near: Vec<usize> = others[..count].iter().map(|(_, b)| *b).collect();
            near.sort_unstable();
            near
        };
        (0..places.len()).map(nearest).collect()
    }
}

/// All tests that standardised residuals allow; whether they are normal is asked only where they should be.
pub fn tests(places: &Places<'_>, residuals: &[f64], normal: bool) -> Vec<ResidualTest> {
    let mut found = vec![];
    for along in 0..places.columns.len() {
        let (name, rows) = (places.columns[along].0, places.rows(along));
        if rows.iter().map(|row| row.len() - 1).sum::<usize>() < FEWEST_PAIRS {
            continue;
        }
        found.extend(runs(&rows, residuals).map(|z| test(TestKind::Runs, Some(name), z)));
        found.extend(lag_one(&rows, residuals).map(|z| test(TestKind::LagOne, Some(name), z)));
    }
    if places.columns.len() > 1 && found.is_empty() && places.apart.is_none() {
        found.extend(moran(places, residuals).map(|z| test(TestKind::Neighbours, None, z)));
    }
    if normal {
        found.extend(normality(residuals).map(|(statistic, p)| ResidualTest {
            kind: TestKind::Normality,
            along: None,
            statistic,
            p,
            adjusted_p: p,
        }));
    }
    found
}

/// A test by a number of standard deviations, of which large ones speak against noise.
fn test(kind: TestKind, along: Option<&str>, z: f64) -> ResidualTest {
    let p = Normal::standard().sf(z);
    ResidualTest { kind, along: along.map(str::to_owned), statistic: z, p, adjusted_p: p }
}

/// By how many standard deviations there are fewer runs of one sign than noise makes (Wald and Wolfowitz, with a
/// correction for counts being whole); none where all have one sign or are too few.
fn runs(rows: &[Vec<usize>], residuals: &[f64]) -> Option<f64> {
    let (mut runs, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for row in rows {
        let signs: Vec<bool> = row.iter().map(|&i| residuals[i] >= 0.0).collect();
        let n = signs.len() as f64;
        let above = signs.iter().filter(|&&above| above).count() as f64;
        let pairs = 2.0 * above * (n - above);
        runs += 1.0 + signs.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
        expected += pairs / n + 1.0;
        variance += pairs * (pairs - n) / (n * n * (n - 1.0));
    }
    (variance > 0.0).then(|| (expected - runs - 0.5) / variance.sqrt())
}

/// Σ z z' over neighbours, in the standard deviations that the same products have with independent signs.
fn lag_one(rows: &[Vec<usize>], residuals: &[f64]) -> Option<f64> {
    let products =
        || rows.iter().flat_map(|row| row.windows(2)).map(|pair| residuals[pair[0]] * residuals[pair[1]]);
    let (sum, squares): (f64, f64) = (products().sum(), products().map(|product| product * product).sum());
    (squares > 0.0).then(|| sum / squares.sqrt())
}

/// Moran's I, in the standard deviations that it has if the residuals are shuffled.
fn moran(places: &Places<'_>, residuals: &[f64]) -> Option<f64> {
    let stride = residuals.len().div_ceil(MOST_PLACES).max(1);
    let chosen: Vec<usize> = (0..residuals.len()).step_by(stride).collect();
    if chosen.len() < FEWEST_NORMAL {
        return None;
    }
    let neighbours = places.neighbours(&chosen);
    let mean = chosen.iter().map(|&i| residuals[i]).sum::<f64>() / chosen.len() as f64;
    let mut values: Vec<f64> = chosen.iter().map(|&i| residuals[i] - mean).collect();
    let sum = |values: &[f64]| -> f64 {
        let own = values.iter().zip(&neighbours);
        own.map(|(value, near)| value * near.iter().map(|&j| values[j]).sum::<f64>()).sum()
    };
    let seen = sum(&values);
    let mut random = Pcg64::seed_from_u64(0);
    let shuffled: Vec<f64> = (0..PERMUTATIONS)
        .map(|_| {
            values.shuffle(&mut random);
            sum(&values)
        })
        .collect();
    let centre = shuffled.iter().sum::<f64>() / PERMUTATIONS as f64;
    let variance = shuffled.iter().map(|s| (s - centre).powi(2)).sum::<f64>() / (PERMUTATIONS - 1) as f64;
    (variance > 0.0).then(|| (seen - centre) / variance.sqrt())
}

/// D'Agostino and Pearson's K², the squares of two numbers that are standard normal for normal data: one from the skewness
/// (D'Agostino, Biometrika 57, 679, 1970), one from the kurtosis (Anscombe and Glynn, Biometrika 70, 227, 1983).
fn normality(residuals: &[f64]) -> Option<(f64, f64)> {
    let n = residuals.len() as f64;
    if residuals.len() < FEWEST_NORMAL {
        return None;
    }
    let mean = residuals.iter().sum::<f64>() / n;
    let moment = |power: i32| residuals.iter().map(|r| (r - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if !(variance > 0.0 && variance.is_finite()) {
        return None;
    }
    let square = skewness(moment(3) / variance.powf(1.5), n).powi(2)
        + kurtosis(moment(4) / variance.powi(2), n).powi(2);
    let p = ChiSquared::new(2.0).ok()?.sf(square);
    Some((square, p))
}

fn skewness(skewness: f64, n: f64) -> f64 {
    let y = skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
    let beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w = (2.0 * (beta - 1.0)).sqrt() - 1.0;
    let (delta, alpha) = (1.0 / (0.5 * w.ln()).sqrt(), (2.0 / (w - 1.0)).sqrt());
    delta * (y / alpha).asinh()
}

fn kurtosis(kurtosis: f64, n: f64) -> f64 {
    let expected = 3.0 * (n - 1.0) / (n + 1.0);
    let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0).powi(2) * (n + 3.0) * (n + 5.0));
    let x = (kurtosis - expected) / variance.sqrt();
    let third = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
        * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let a = 6.0 + 8.0 / third * (2.0 / third + (1.0 + 4.0 / (third * third)).sqrt());
    let root = ((1.0 - 2.0 / a) / (1.0 + x * (2.0 / (a - 4.0)).sqrt())).cbrt();
    (1.0 - 2.0 / (9.0 * a) - root) / (2.0 / (9.0 * a)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Standard normal numbers, by sums of twelve uniform ones.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        let normal = Normal::standard();
        (0..count).map(|_| normal.inverse_cdf(random.random::<f64>())).collect()
    }

    /// By scipy.stats.normaltest of SciPy 1.17.1, of i²/100 - 1 for i = 0 .. 29.
    const NORMALTEST: (f64, f64) = (3.861_221_920_198_058_7, 0.145_059_545_810_284_9);

    #[test]
    fn normality_is_that_of_scipy() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i) / 100.0 - 1.0).collect();
        let (statistic, p) = normality(&values).unwrap();
        assert!((statistic - NORMALTEST.0).abs() < 1e-9, "{statistic}");
        assert!((p - NORMALTEST.1).abs() < 1e-9, "{p}");
    }

    /// The signs + + - - - + + - + + have five runs; 6 and 4 of them make 5.8 expected with variance 48*38/(100*9).
    #[test]
    fn runs_are_counted_by_hand() {
        let residuals = [1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0];
        let row: Vec<usize> = (0..10).collect();
        let z = runs(&[row], &residuals).unwrap();
        let variance: f64 = 48.0 * 38.0 / (100.0 * 9.0);
        assert!((z - (5.8 - 5.0 - 0.5) / variance.sqrt()).abs() < 1e-12, "{z}");
    }

    /// A thousand draws of pure noise at each of several sizes: Holm's correction keeps false alarms at 1e-3 below one in
    /// a hundred, and each test alone at 5 % is right within 2 % (three binomial deviations and what few data do).
    #[test]
    fn noise_is_called_noise() {
        let draws = 1000;
        for count in [15, 60, 300] {
            let x: Vec<f64> = (0..count).map(f64::from).collect();
            let places = Places::of(vec![("x", &x)]);
            let mut rejected = [0; 3];
            let mut alarms = 0;
            for seed in 0..draws {
                let found = tests(&places, &noise(count as usize, seed), true);
                for test in &found {
                    let kind = match test.kind {
                        TestKind::Runs => 0,
                        TestKind::LagOne => 1,
                        _ => 2,
                    };
                    rejected[kind] += usize::from(test.p < 0.05);
                }
                alarms += usize::from(found.iter().any(|test| test.p * (found.len() as f64) < 1e-3));
            }
            for share in rejected.map(|count| count as f64 / draws as f64) {
                assert!(share < 0.075, "{count} data: {share}");
            }
            assert!(alarms < draws as usize / 100, "{count} data: {alarms} alarms");
        }
    }

    #[test]
    fn a_wave_is_found_along_the_coordinate_that_it_has() {
        let (nx, nt) = (20, 10);
        let column = |f: &dyn Fn(usize) -> usize| -> Vec<f64> { (0..nx * nt).map(|i| f(i) as f64).collect() };
        let (x, t) = (column(&|i| i % nx), column(&|i| i / nx));
        let places = Places::of(vec![("x", &x), ("t", &t)]);
        let mut wave = noise(nx * nt, 1);
        wave.iter_mut().zip(&x).for_each(|(residual, x)| *residual += 1.5 * (x / 3.0).sin());
        let found = tests(&places, &wave, true);
        // Along t the wave is a constant, which changes no sign.
        for (kind, along) in [(TestKind::Runs, "x"), (TestKind::LagOne, "x"), (TestKind::LagOne, "t")] {
            let test = found.iter().find(|t| t.kind == kind && t.along.as_deref() == Some(along)).unwrap();
            assert!(test.p < 1e-6, "{kind:?} along {along}: {test:?}");
        }
    }

    #[test]
    fn scattered_places_have_neighbours() {
        let mut random = Pcg64::seed_from_u64(3);
        let mut uniform = || -> Vec<f64> { (0..300).map(|_| random.random::<f64>()).collect() };
        let (x, y) = (uniform(), uniform());
        let places = Places::of(vec![("x", &x), ("y", &y)]);
        let quiet = noise(300, 5);
        let [test] = &tests(&places, &quiet, false)[..] else { panic!("one test") };
        assert!(test.kind == TestKind::Neighbours && test.p > 1e-2, "{test:?}");
        let bumpy: Vec<f64> =
            (0..300).map(|i| quiet[i] + (6.0 * x[i]).sin() * (6.0 * y[i]).cos() * 1.5).collect();
        assert!(tests(&places, &bumpy, false)[0].p < 1e-6);
    }
}
