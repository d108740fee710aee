//! Weighted sums of entries of a vector, many at once.

use std::ops::Range;

/// `out[i] = sum_k weights[k] * values[sources[k]]` over the terms k of sum i.
#[derive(Debug, Default)]
pub(crate) struct Combination {
    ends: Vec<usize>,
    sources: Vec<usize>,
    weights: Vec<f64>,
    /// Neighbouring sums of the same number of terms.
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    sums: usize,
    terms: usize,
}

impl Combination {
    /// Sums given term by term, as (sum, source, weight) in any order of the
    /// sums; there are `count` of them.
    pub(crate) fn new(count: usize, terms: &[(usize, usize, f64)]) -> Combination {
        let mut sorted = terms.to_vec();
        sorted.sort_by_key(|&(sum, ..)| sum);
        let mut all = Combination::default();
        let mut rest = sorted.into_iter().peekable();
        for sum in 0..count {
            let own = std::iter::from_fn(|| rest.next_if(|term| term.0 == sum));
            all.push(own.map(|(_, source, weight)| (source, weight)));
        }
        all
    }

    /// Appends one more sum of (source, weight).
    pub(crate) fn push(&mut self, terms: impl IntoIterator<Item = (usize, f64)>) {
        let before = self.sources.len();
        for (source, weight) in terms {
            self.sources.push(source);
            self.weights.push(weight);
        }
        self.ends.push(self.sources.len());
        let terms = self.sources.len() - before;
        match self.runs.last_mut() {
            Some(run) if run.terms == terms => run.sums += 1,
            _ => self.runs.push(Run { sums: 1, terms }),
        }
    }

    /// How many sums there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sources and weights of a sum.
    pub(crate) fn at(&self, sum: usize) -> (&[usize], &[f64]) {
        let range = self.range(sum);
        (&self.sources[range.clone()], &self.weights[range])
    }

    /// Which terms, of all, belong to a sum.
    pub(crate) fn range(&self, sum: usize) -> Range<usize> {
        let start = if sum == 0 { 0 } else { self.ends[sum - 1] };
        start..self.ends[sum]
    }

    /// All sums.
    pub(crate) fn apply(&self, values: &[f64], mut out: &mut [f64]) {
        let (mut sources, mut weights) = (&self.sources[..], &self.weights[..]);
        for &Run { sums, terms } in &self.runs {
            let run = (sources.split_off(..sums * terms), weights.split_off(..sums * terms));
            let (Some(sources), Some(weights)) = run else { unreachable!("as many terms as were pushed") };
            let run = out.split_off_mut(..sums).expect("one entry for each sum");
            // Sums of a known number of terms need no loop.
            match terms {
                1 => add_up::<1>(sources, weights, values, run),
                2 => add_up::<2>(sources, weights, values, run),
                3 => add_up::<3>(sources, weights, values, run),
                4 => add_up::<4>(sources, weights, values, run),
                _ => {
                    for (i, out) in run.iter_mut().enumerate() {
                        let own = i * terms..(i + 1) * terms;
                        let products = sources[own.clone()].iter().zip(&weights[own]);
                        *out = products.map(|(&source, weight)| weight * values[source]).sum();
                    }
                }
            }
        }
    }

    /// The transpose: adds multiples of the weights of every sum to the entries
    /// they came from.
    pub(crate) fn add_transposed(&self, multiples: &[f64], values: &mut [f64]) {
        for (sum, multiple) in multiples.iter().enumerate() {
            let (sources, weights) = self.at(sum);
            sources.iter().zip(weights).for_each(|(&source, weight)| values[source] += weight * multiple);
        }
    }
}

fn add_up<const N: usize>(sources: &[usize], weights: &[f64], values: &[f64], out: &mut [f64]) {
    let ((sources, _), (weights, _)) = (sources.as_chunks::<N>(), weights.as_chunks::<N>());
    for ((out, sources), weights) in out.iter_mut().zip(sources).zip(weights) {
        *out = (0..N).map(|k| weights[k] * values[sources[k]]).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_dense_matrix_and_of_its_transpose() {
        // Sums of 0 to 6 terms, alone and in runs, given out of order.
        let counts = [3, 3, 0, 1, 6, 2, 2, 4, 4, 5, 1];
        let term = |sum: usize, k: usize| (sum, (3 * sum + 5 * k) % 13, (sum + 1) as f64 + 0.1 * k as f64);
        let own = |sum: usize| (0..counts[sum]).map(move |k| term(sum, k));
        let terms: Vec<_> = (0..counts.len()).rev().flat_map(own).collect();
        let combination = Combination::new(counts.len(), &terms);
        assert_eq!(combination.len(), counts.len());
        let values: Vec<f64> = (0..13).map(|i| f64::from(i).sin()).collect();
        let multiples: Vec<f64> = (0..counts.len()).map(|i| (i as f64).cos()).collect();
        let (mut dense, mut dense_transposed) = (vec![0.0; counts.len()], vec![0.0; 13]);
        for &(sum, source, weight) in &terms {
            dense[sum] += weight * values[source];
            dense_transposed[source] += weight * multiples[sum];
        }
        let (mut out, mut transposed) = (vec![f64::NAN; counts.len()], vec![0.0; 13]);
        combination.apply(&values, &mut out);
        combination.add_transposed(&multiples, &mut transposed);
        // A few roundings of numbers below 100.
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&out, &dense) && near(&transposed, &dense_transposed));
    }
}
