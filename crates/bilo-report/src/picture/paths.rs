//! Paths of two unknowns through their plane, over contours of what is minimised.

use super::axes::Axis;
use super::colour::{INK, LINES};
use super::landscape::{Landscape, around};
use super::plot::Plot;
use super::series::{Series, Shape};
use super::sheet::{colour, sheet as drawn};

const SIDE: f64 = 300.0;
/// Planes in a row.
const ABREAST: usize = 2;

/// Paths in one plane.
#[derive(Clone, Debug)]
pub struct Plane {
    /// What is different here from other planes.
    pub title: String,
    /// By series; empty where there is none.
    pub paths: Vec<Vec<[f64; 2]>>,
    /// Where they should end, if that is known.
    pub goal: Option<[f64; 2]>,
    /// What the paths lead through.
    pub landscape: Option<Landscape>,
}

/// The least rectangle around all paths and goals, with some room.
pub fn ends(planes: &[Plane]) -> [(f64, f64); 2] {
    around(planes.iter().flat_map(|plane| plane.paths.iter().flatten().chain(&plane.goal)))
}

/// Planes with the same ends, as a drawing in SVG.
pub fn sheet(planes: &[Plane], names: [&str; 2], series: &[String]) -> String {
    let axes = ends(planes).map(Axis::linear);
    let plots: Vec<Plot> = planes.iter().map(|plane| plane.plot(names, axes, series)).collect();
    drawn(&plots, ABREAST).into_string()
}

impl Plane {
    fn plot(&self, names: [&str; 2], axes: [Axis; 2], series: &[String]) -> Plot {
        let mut drawn = vec![];
        let mut beginnings = vec![];
        for (number, (name, path)) in series.iter().zip(&self.paths).enumerate() {
            let (Some(&first), Some(&last)) = (path.first(), path.last()) else { continue };
            let shapes = vec![Shape::Line(path.clone(), false), Shape::Dots(vec![last], 3.6)];
            drawn.push(Series::new(name, colour(number, series.len()), shapes));
            beginnings.push(Shape::Dots(vec![first], 3.0));
        }
        drawn.push(Series::new("", INK, beginnings));
        drawn.extend(self.goal.map(|goal| Series::new("truth", LINES[2], vec![Shape::Ring(goal, 7.0)])));
        let contours = self.landscape.as_ref().map_or_else(Vec::new, Landscape::contours);
        Plot { contours, series: drawn, halo: true, ..Plot::new(&self.title, names, axes, [SIDE; 2]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_paths_and_goals_are_inside() {
        let plane = Plane {
            title: String::new(),
            paths: vec![vec![[1.0, 1.0], [1.5, 3.0]], vec![]],
            goal: Some([2.0, 2.0]),
            landscape: None,
        };
        let [x, y] = ends(std::slice::from_ref(&plane));
        assert!(x.0 < 1.0 && x.1 > 2.0 && y.0 < 1.0 && y.1 > 3.0, "{x:?} {y:?}");
        let svg = sheet(&[plane], ["D", "rho"], &["bilo".into(), "pinn".into()]);
        assert_eq!(svg.matches("h0\" ").count(), 2, "the beginning and the end of one path");
        assert_eq!(svg.matches("<circle ").count(), 2, "the goal, and its sample in the legend");
        assert!(svg.contains(">rho</text>"));
        assert_eq!(ends(&[]), [(0.0, 1.0); 2]);
    }

    #[test]
    fn contours_of_a_bowl_are_closed() {
        let axis: Vec<f64> = (0..21).map(|i| f64::from(i) / 10.0 - 1.0).collect();
        let losses: Vec<f64> = axis.iter().flat_map(|x| axis.iter().map(move |y| x * x + y * y)).collect();
        let landscape = Landscape::of_losses([axis.clone(), axis], &losses);
        let plane = Plane {
            title: String::new(),
            paths: vec![vec![[-1.0, -1.0], [1.0, 1.0]]],
            goal: None,
            landscape,
        };
        assert!(sheet(&[plane], ["a", "b"], &["one".into()]).matches("Z\" class=\"contour\"").count() >= 5);
    }
}
