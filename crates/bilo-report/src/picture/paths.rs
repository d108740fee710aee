//! Ways of two unknowns through their plane, over contours of what is minimised.

use super::axes::{ABOVE, Axis, BELOW, LEFT, LEGEND_LINE, RIGHT, View, legend, line};
use super::bars::colour;
use super::colour::{Colour, INK, WHITE};
use super::landscape::{Landscape, around};
use super::svg::{Canvas, Rectangle};

const SIDE: f64 = 300.0;
const ABREAST: usize = 2;
const LANDSCAPE: Colour = Colour([190; 3]);

/// Ways in one plane.
#[derive(Clone, Debug)]
pub struct Plane {
    /// What is different here from other planes.
    pub title: String,
    /// By series; empty where there is none.
    pub ways: Vec<Vec<[f64; 2]>>,
    /// Where they should end, if that is known.
    pub goal: Option<[f64; 2]>,
    /// What the ways lead through.
    pub landscape: Option<Landscape>,
}

/// The least rectangle around all ways and goals, with some room.
pub fn ends(planes: &[Plane]) -> [(f64, f64); 2] {
    around(planes.iter().flat_map(|plane| plane.ways.iter().flatten().chain(&plane.goal)))
}

/// Planes with the same ends, as a drawing in SVG.
pub fn sheet(planes: &[Plane], names: [&str; 2], series: &[String]) -> String {
    let [across, down] = [LEFT + SIDE + RIGHT, ABOVE + SIDE + BELOW];
    let rows = planes.len().div_ceil(ABREAST);
    let height = down * rows as f64 + LEGEND_LINE * (series.len() as f64 + 0.5);
    let mut canvas = Canvas::new(across * planes.len().min(ABREAST) as f64, height);
    let [x, y] = ends(planes).map(Axis::linear);
    for (number, plane) in planes.iter().enumerate() {
        let (column, row) = ((number % ABREAST) as f64, (number / ABREAST) as f64);
        let area =
            Rectangle { left: column * across + LEFT, top: row * down + ABOVE, width: SIDE, height: SIDE };
        plane.draw(&mut canvas, &View { area, x, y }, names, series.len());
    }
    for (number, name) in series.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let place = [LEFT, down * rows as f64 + LEGEND_LINE * (number as f64 + 0.5)];
        legend(&mut canvas, place, line(colour(number, series.len()), 2.0), name);
    }
    canvas.finish()
}

impl Plane {
    fn draw(&self, canvas: &mut Canvas, view: &View, names: [&str; 2], series: usize) {
        if let Some(landscape) = &self.landscape {
            for found in landscape.contours() {
                let points: Vec<[f64; 2]> = found.points.into_iter().map(|point| view.pixel(point)).collect();
                canvas.polyline(&points, found.closed, line(LANDSCAPE, 0.8));
            }
        }
        let ways = || {
            let all = self.ways.iter().enumerate().filter(|(_, way)| !way.is_empty());
            all.map(|(number, way)| (number, way.iter().map(|&point| view.pixel(point)).collect::<Vec<_>>()))
        };
        // White under all ways, so that none of them is covered.
        ways().for_each(|(_, points)| canvas.polyline(&points, false, line(WHITE, 3.6)));
        ways()
            .for_each(|(number, points)| canvas.polyline(&points, false, line(colour(number, series), 1.8)));
        for (number, way) in self.ways.iter().enumerate() {
            if let (Some(&first), Some(&last)) = (way.first(), way.last()) {
                canvas.dot(view.pixel(first), 3.0, INK);
                canvas.dot(view.pixel(last), 3.6, colour(number, series));
            }
        }
        if let Some(goal) = self.goal {
            let [x, y] = view.pixel(goal);
            for sign in [1.0, -1.0] {
                let arm = [[x - 5.0, y - 5.0 * sign], [x + 5.0, y + 5.0 * sign]];
                canvas.polyline(&arm, false, line(INK, 1.6));
            }
        }
        view.ticks_of_x(canvas);
        view.ticks_of_y(canvas);
        view.frame(canvas, names, &self.title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_and_goals_are_inside() {
        let plane = Plane {
            title: String::new(),
            ways: vec![vec![[1.0, 1.0], [1.5, 3.0]], vec![]],
            goal: Some([2.0, 2.0]),
            landscape: None,
        };
        let [x, y] = ends(std::slice::from_ref(&plane));
        assert!(x.0 < 1.0 && x.1 > 2.0 && y.0 < 1.0 && y.1 > 3.0, "{x:?} {y:?}");
        let svg = sheet(&[plane], ["D", "rho"], &["bilo".into(), "pinn".into()]);
        assert_eq!(svg.matches("<circle ").count(), 2, "the beginning and the end of one way");
        assert!(svg.contains(">rho</text>"));
        assert_eq!(ends(&[]), [(0.0, 1.0); 2]);
    }

    #[test]
    fn contours_of_a_bowl_are_closed() {
        let axis: Vec<f64> = (0..21).map(|i| f64::from(i) / 10.0 - 1.0).collect();
        let losses: Vec<f64> = axis.iter().flat_map(|x| axis.iter().map(move |y| x * x + y * y)).collect();
        let landscape = Landscape::of_losses([axis.clone(), axis], &losses);
        let plane =
            Plane { title: String::new(), ways: vec![vec![[-1.0, -1.0], [1.0, 1.0]]], goal: None, landscape };
        assert!(sheet(&[plane], ["a", "b"], &["one".into()]).matches("Z\" fill").count() >= 5);
    }
}
