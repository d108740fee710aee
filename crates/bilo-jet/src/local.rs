//! Dictionaries whose features live in few places each: their derivatives by the weights have few entries per point,
//! and come from the derivatives by the slots of a program.

use crate::dictionary::Axis;
use crate::network::Operation;
use crate::points::PointSource;
use crate::program::Frame;
use bilo_expr::{Input, Scratch};

/// Vectors that are multiplied at once.
const TOGETHER: usize = 8;

/// A matrix by its rows, with few entries in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    /// Where the entries of each row begin, and after the last row the number of all.
    pub starts: Vec<usize>,
    /// The column of each entry; within a row every column comes once.
    pub columns: Vec<usize>,
    /// The entries.
    pub values: Vec<f64>,
}

/// The features of a program's dictionaries at points.
#[derive(Clone, Debug)]
pub struct LocalFeatures {
    dictionaries: Vec<Dictionary>,
    points: usize,
}

/// The features of one dictionary around each point.
#[derive(Clone, Debug)]
struct Dictionary {
    axes: Vec<Axis>,
    /// Where its weights begin.
    offset: usize,
    /// By output: the slots, each with the order of its derivative along each axis.
    outputs: Vec<Vec<(usize, Vec<usize>)>>,
    /// By axis: for each point the first function that lives there, and what those that do are, by order.
    around: Vec<Vec<(usize, Vec<f64>)>>,
}

impl Frame {
    /// The features at points, if every network is a dictionary of products.
    pub fn local_features(&self, points: &PointSource, unknowns: &[f64]) -> Option<LocalFeatures> {
        let columns = points.columns(0..points.len());
        let numbers = 0..self.carriers.len();
        let dictionaries = numbers.filter(|&number| !self.carriers[number].idle);
        let dictionaries =
            dictionaries.map(|number| self.features_of(number, &columns, unknowns)).collect::<Option<_>>()?;
        Some(LocalFeatures { dictionaries, points: points.len() })
    }

    fn features_of(&self, number: usize, columns: &[Vec<f64>], unknowns: &[f64]) -> Option<Dictionary> {
        let carrier = &self.carriers[number];
        let Operation::Tensor(axes) = &carrier.network.nodes()[2].operation else { return None };
        let indices = carrier.plan.indices();
        let order = |component: usize| -> Option<Vec<usize>> {
            Some(indices.get(component)?.as_slice().iter().map(|&order| usize::from(order)).collect())
        };
        let mut outputs = vec![vec![]; carrier.network.nodes().last()?.width];
        for (place, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.network == number) {
            outputs[slot.output].push((place, order(slot.component)?));
        }
        let inputs: Vec<Input<'_, f64>> = (columns.iter().map(|column| Input::Column(&column[..])))
            .chain(unknowns.iter().map(|&value| Input::Uniform(value)))
            .collect();
        let mut scratch = Scratch::new();
        carrier.inputs.eval(&inputs, columns[0].len(), &mut scratch);
        let around = |(place, axis): (usize, &Axis)| {
            let highest = indices.iter().map(|index| usize::from(index.as_slice()[place])).max();
            let coordinate = scratch.output(&carrier.inputs, place);
            coordinate.iter().map(|&x| axis.around(x, highest.unwrap_or(0) + 1)).collect()
        };
        let around = axes.iter().enumerate().map(around).collect();
        Some(Dictionary { axes: axes.clone(), offset: carrier.offset, outputs, around })
    }
}

impl LocalFeatures {
    /// The derivatives by the weights of a quantity whose derivatives by the slots these are, one row per point.
    pub fn rows(&self, by_slot: &[Vec<f64>]) -> SparseRows {
        let mut rows = SparseRows { starts: vec![0], ..SparseRows::default() };
        for point in 0..self.points {
            self.dictionaries.iter().for_each(|dictionary| dictionary.row(point, by_slot, &mut rows));
            rows.starts.push(rows.values.len());
        }
        rows
    }
}

impl Dictionary {
    fn row(&self, point: usize, by_slot: &[Vec<f64>], rows: &mut SparseRows) {
        let features: usize = self.axes.iter().map(|axis| axis.count).product();
        for (output, slots) in self.outputs.iter().enumerate() {
            let first = rows.values.len();
            self.places(point, self.offset + output * features, &mut rows.columns);
            rows.values.resize(rows.columns.len(), 0.0);
            for (slot, orders) in slots {
                self.add(point, orders, by_slot[*slot][point], &mut rows.values[first..]);
            }
        }
    }

    /// The weights of the features around a point, the last coordinate running fastest.
    fn places(&self, point: usize, first: usize, columns: &mut Vec<usize>) {
        let mut places = vec![0];
        for (axis, around) in self.axes.iter().zip(&self.around) {
            let here = around[point].0..around[point].0 + axis.overlap();
            places = (places.iter())
                .flat_map(|&place| here.clone().map(move |function| place * axis.count + function))
                .collect();
        }
        columns.extend(places.into_iter().map(|place| first + place));
    }

    /// Adds a number times a derivative of each of these features.
    fn add(&self, point: usize, orders: &[usize], number: f64, values: &mut [f64]) {
        if number == 0.0 {
            return;
        }
        let mut products = vec![number];
        for ((axis, around), order) in self.axes.iter().zip(&self.around).zip(orders) {
            let factors = &around[point].1[order * axis.overlap()..][..axis.overlap()];
            products = products.iter().flat_map(|product| factors.iter().map(move |f| product * f)).collect();
        }
        values.iter_mut().zip(products).for_each(|(value, product)| *value += product);
    }
}

impl SparseRows {
    /// Number of rows.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The entries of a row with their columns.
    pub fn row(&self, number: usize) -> impl Iterator<Item = (usize, f64)> {
        let own = self.starts[number]..self.starts[number + 1];
        self.columns[own.clone()].iter().copied().zip(self.values[own].iter().copied())
    }

    /// The matrix times each of several vectors.
    pub fn times(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        vectors.chunks(TOGETHER).flat_map(|vectors| self.times_few(vectors)).collect()
    }

    /// Entries of several vectors lie side by side, so that each is found once for all of them.
    fn times_few(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut interleaved = vec![[0.0; TOGETHER]; vectors[0].len()];
        for (k, vector) in vectors.iter().enumerate() {
            interleaved.iter_mut().zip(vector).for_each(|(entries, &entry)| entries[k] = entry);
        }
        let mut products = vec![vec![0.0; self.count()]; vectors.len()];
        for number in 0..self.count() {
            let mut sums = [0.0; TOGETHER];
            for (column, value) in self.row(number) {
                sums.iter_mut().zip(&interleaved[column]).for_each(|(sum, entry)| *sum += value * entry);
            }
            products.iter_mut().zip(sums).for_each(|(product, sum)| product[number] = sum);
        }
        products
    }
}
