//! Where a program is evaluated: points, and the values given at each. A device asks for a stretch of
//! them at a time, so that a grid takes the memory of its axes, however many points it has.

use std::ops::Range;

/// Points that [`PointSource::keep`] looks at together.
const STRETCH: usize = 1024;

/// Values by place, by one rule for stored values, axes of grids and constants: at place p stands
/// `values[(p / repeat) % values.len()]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    values: Vec<f64>,
    repeat: usize,
}

impl Column {
    /// One value per place.
    pub fn stored(values: Vec<f64>) -> Self {
        Self { values, repeat: 1 }
    }

    /// Each value `repeat` times in a row, and all of them again and again.
    pub fn axis(values: Vec<f64>, repeat: usize) -> Self {
        Self { values, repeat: repeat.max(1) }
    }

    /// One value everywhere.
    pub fn uniform(value: f64) -> Self {
        Self::stored(vec![value])
    }

    /// The values at neighbouring places from `first` on.
    pub fn write(&self, first: usize, target: &mut [f64]) {
        let mut number = first / self.repeat % self.values.len().max(1);
        let mut left = self.repeat - first % self.repeat;
        for target in target {
            *target = self.values[number];
            left -= 1;
            if left == 0 {
                left = self.repeat;
                number = if number + 1 < self.values.len() { number + 1 } else { 0 };
            }
        }
    }
}

/// Points, as one column per symbol that is given at each of them.
///
/// ```
/// use bilo_jet::PointSource;
///
/// let grid = PointSource::grid(vec![vec![0.0, 1.0], vec![5.0, 6.0, 7.0]]);
/// assert_eq!(grid.columns(1..4), [[0.0, 0.0, 1.0], [6.0, 7.0, 5.0]]);
/// let inside = grid.keep(|columns| columns[1].iter().map(|&t| t > 5.0).collect());
/// assert_eq!(inside.columns(0..4), [[0.0, 0.0, 1.0, 1.0], [6.0, 7.0, 6.0, 7.0]]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PointSource {
    columns: Vec<Column>,
    count: usize,
    /// Which places of the columns are points.
    runs: Vec<Run>,
}

/// Neighbouring places that are points, up to the next run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    point: usize,
    place: usize,
}

impl PointSource {
    /// The first `count` places of the columns.
    pub fn new(columns: Vec<Column>, count: usize) -> Self {
        Self { columns, count, runs: vec![Run { point: 0, place: 0 }] }
    }

    /// Points that are stored: columns of one length.
    pub fn stored(columns: Vec<Vec<f64>>) -> Self {
        let count = columns.first().map_or(0, Vec::len);
        assert!(columns.iter().all(|column| column.len() == count), "columns of one length");
        Self::new(columns.into_iter().map(Column::stored).collect(), count)
    }

    /// All combinations of the axes' values, the last axis running fastest.
    pub fn grid(axes: Vec<Vec<f64>>) -> Self {
        let count = axes.iter().map(Vec::len).product();
        let mut repeat = count;
        let column = |axis: Vec<f64>| {
            repeat /= axis.len().max(1);
            Column::axis(axis, repeat)
        };
        Self::new(axes.into_iter().map(column).collect(), count)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// A column at the points from `start` on; places after the last point repeat it.
    pub fn write(&self, column: usize, start: usize, target: &mut [f64]) {
        let end = self.count.min(start + target.len());
        let mut point = start;
        while point < end {
            let number = self.run_of(point);
            let run = self.runs[number];
            let next = self.runs.get(number + 1).map_or(end, |next| next.point.min(end));
            let target = &mut target[point - start..next - start];
            self.columns[column].write(run.place + (point - run.point), target);
            point = next;
        }
        if start < end {
            let last = target[end - start - 1];
            target[end - start..].fill(last);
        }
    }

    /// All columns at some points.
    pub fn columns(&self, points: Range<usize>) -> Vec<Vec<f64>> {
        let mut columns = vec![vec![0.0; points.len()]; self.width()];
        for (number, column) in columns.iter_mut().enumerate() {
            self.write(number, points.start, column);
        }
        columns
    }

    /// All points in order, `length` at a time.
    pub fn stretches(&self, length: usize) -> impl Iterator<Item = Vec<Vec<f64>>> {
        let stretch = move |start| self.columns(start..self.count.min(start + length));
        (0..self.count).step_by(length).map(stretch)
    }

    /// These points with one more column: a function of some of the others, which it is given at some
    /// places. A function of some axes of a grid takes the memory of these axes' grid.
    pub fn with_function(mut self, of: &[usize], function: impl Fn(&[Vec<f64>]) -> Vec<f64>) -> Self {
        let columns: Vec<&Column> = of.iter().map(|&column| &self.columns[column]).collect();
        let repeat = columns.iter().fold(0, |repeat, column| gcd(repeat, column.repeat)).max(1);
        let period = columns.iter().fold(1, |period, column| {
            let own = column.repeat.saturating_mul(column.values.len()).max(1);
            (period / gcd(period, own)).saturating_mul(own)
        });
        let places = self.count.checked_sub(1).map_or(0, |last| self.place(last) + 1);
        let count = period.min(places).div_ceil(repeat);
        let at = |column: &&Column| {
            (0..count).map(|i| column.values[i * repeat / column.repeat % column.values.len()]).collect()
        };
        let values = function(&columns.iter().map(at).collect::<Vec<_>>());
        self.columns.push(Column::axis(values, repeat));
        self
    }

    /// The points where a condition holds, which is given the columns of some points at a time.
    pub fn keep(mut self, mut condition: impl FnMut(&[Vec<f64>]) -> Vec<bool>) -> Self {
        let (mut runs, mut count, mut before) = (Vec::<Run>::new(), 0, None);
        for (number, stretch) in self.stretches(STRETCH).enumerate() {
            let kept = condition(&stretch).into_iter().enumerate().filter(|(_, holds)| *holds);
            for (offset, _) in kept {
                let place = self.place(number * STRETCH + offset);
                if before.is_none_or(|before| place != before + 1) {
                    runs.push(Run { point: count, place });
                }
                before = Some(place);
                count += 1;
            }
        }
        (self.runs, self.count) = (runs, count);
        self.compacted()
    }

    /// Stored values of places that are no points are given up.
    fn compacted(self) -> Self {
        let stored = |column: &Column| column.repeat == 1 && column.values.len() >= self.count;
        if self.runs.len() <= 1 || !self.columns.iter().all(stored) {
            return self;
        }
        let count = self.count;
        Self::stored(self.columns(0..count))
    }

    fn run_of(&self, point: usize) -> usize {
        self.runs.partition_point(|run| run.point <= point) - 1
    }

    fn place(&self, point: usize) -> usize {
        let run = self.runs[self.run_of(point)];
        run.place + (point - run.point)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
