//! How many boundary equations a system takes, and which interior equations
//! they replace.

use crate::error::SolveError;
use crate::statement::End;

/// More states than this would make the search for the order of the system slow.
const MOST_STATES: usize = 16;

/// The interior equation of `state`, `depth` nodes from `end`, gives way to
/// boundary equation `boundary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) state: usize,
    pub(crate) end: End,
    pub(crate) depth: usize,
    pub(crate) boundary: usize,
}

/// Number of boundary equations each state takes: its highest space derivative
/// in the equation that determines it.
///
/// Equations are matched to states so that the sum of the orders is largest,
/// which is the order of a system of differential equations (Jacobi's bound);
/// among equal ones the matching that leaves most equations with the state of
/// the same position. `orders[equation][state]` is the highest space derivative,
/// `None` where the state does not occur.
pub(crate) fn orders_of_states(orders: &[Vec<Option<usize>>]) -> Result<Vec<usize>, SolveError> {
    let states = orders.len();
    if states > MOST_STATES {
        return Err(SolveError::WrongCount {
            what: "states",
            expected: MOST_STATES,
            found: states,
            help: "split the problem into smaller systems",
        });
    }
    // best[set]: (order, own positions, last state) of the best matching of the
    // first equations with this set of states.
    let full = (1usize << states) - 1;
    let mut best: Vec<Option<(usize, usize, usize)>> = vec![None; full + 1];
    best[0] = Some((0, 0, 0));
    for set in 0..full {
        let Some((order, own, _)) = best[set] else {
            continue;
        };
        let equation = set.count_ones() as usize;
        for state in (0..states).filter(|s| set & (1 << s) == 0) {
            if let Some(more) = orders[equation][state] {
                let own = own + usize::from(state == equation);
                let slot = &mut best[set | (1 << state)];
                *slot = (*slot).max(Some((order + more, own, state)));
            }
        }
    }
    let mut taken = vec![0; states];
    let mut set = full;
    for equation in (0..states).rev() {
        let (_, _, state) = best[set].ok_or(SolveError::Undetermined)?;
        taken[state] = orders[equation][state].unwrap_or(0);
        set &= !(1 << state);
    }
    Ok(taken)
}

/// Gives each boundary equation a state that occurs in it, as far as possible,
/// so that state `s` gets `orders[s]` of them. `occurs[boundary][state]`; the
/// numbers of equations must agree.
fn assign(orders: &[usize], occurs: &[Vec<bool>]) -> Vec<usize> {
    let seats: Vec<usize> =
        (0..orders.len()).flat_map(|state| std::iter::repeat_n(state, orders[state])).collect();
    let mut holder: Vec<Option<usize>> = vec![None; seats.len()];
    for boundary in 0..occurs.len() {
        let mut tried = vec![false; seats.len()];
        find_seat(boundary, &seats, occurs, &mut holder, &mut tried);
    }
    let mut state_of = vec![None; occurs.len()];
    for (seat, boundary) in holder.iter().enumerate() {
        if let Some(boundary) = boundary {
            state_of[*boundary] = Some(seats[seat]);
        }
    }
    let mut free = (0..seats.len()).filter(|&s| holder[s].is_none());
    state_of
        .into_iter()
        .map(|state| state.unwrap_or_else(|| seats[free.next().expect("as many seats as boundaries")]))
        .collect()
}

/// One augmenting path of bipartite matching.
fn find_seat(
    boundary: usize,
    seats: &[usize],
    occurs: &[Vec<bool>],
    holder: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for seat in 0..seats.len() {
        if tried[seat] || !occurs[boundary][seats[seat]] {
            continue;
        }
        tried[seat] = true;
        let free = match holder[seat] {
            None => true,
            Some(other) => find_seat(other, seats, occurs, holder, tried),
        };
        if free {
            holder[seat] = Some(boundary);
            return true;
        }
    }
    false
}

/// Which interior equations the boundary equations replace.
///
/// For a state with `n` boundary equations the interior equations of `n/2`
/// nodes at each end are left out wherever the boundary equations hold: central
/// stencils do not reach further, and one-sided copies of an equation next to
/// an end would repeat the central ones. An odd one is left out at the end with
/// more boundary equations (the inflow).
pub(crate) fn replacements(orders: &[usize], ends: &[End], occurs: &[Vec<bool>]) -> Vec<Replacement> {
    let state_of = assign(orders, occurs);
    let mut all = Vec::new();
    for (state, &order) in orders.iter().enumerate() {
        let mut mine: Vec<usize> = (0..ends.len()).filter(|&b| state_of[b] == state).collect();
        mine.sort_by_key(|&b| ends[b]);
        let lower = mine.iter().filter(|&&b| ends[b] == End::Lower).count();
        let at_lower = if lower > order - lower { order.div_ceil(2) } else { order / 2 };
        for (i, boundary) in mine.into_iter().enumerate() {
            let (end, depth) = if i < at_lower { (End::Lower, i) } else { (End::Upper, i - at_lower) };
            all.push(Replacement { state, end, depth, boundary });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use End::{Lower, Upper};

    #[test]
    fn the_order_of_a_system_counts_each_state_once() {
        // Haptotaxis: u_t = u_xx - (u v_x)_x, v_t = u - v takes two, not four.
        let haptotaxis = [vec![Some(2), Some(2)], vec![Some(0), Some(0)]];
        assert_eq!(orders_of_states(&haptotaxis), Ok(vec![2, 0]));
        // Waves: u_t = v_x, v_t = u_x.
        let waves = [vec![Some(0), Some(1)], vec![Some(1), Some(0)]];
        assert_eq!(orders_of_states(&waves), Ok(vec![1, 1]));
        let same_state_twice = [vec![Some(2), None], vec![Some(1), None]];
        assert_eq!(orders_of_states(&same_state_twice), Err(SolveError::Undetermined));
    }

    #[test]
    fn boundary_equations_go_to_states_that_occur_in_them() {
        // The first would take u; the second has only u.
        let occurs = [vec![true, true], vec![true, false]];
        assert_eq!(assign(&[1, 1], &occurs), [1, 0]);
        // u at both ends of u' = v, v' = f: one of them must stand for v.
        let occurs = [vec![true, false], vec![true, false]];
        assert_eq!(assign(&[1, 1], &occurs), [0, 1]);
    }

    #[test]
    fn a_beam_loses_two_equations_at_each_end_and_transport_one_at_inflow() {
        let ends = [Lower, Lower, Upper, Upper];
        let rows: Vec<_> = replacements(&[4], &ends, &vec![vec![true]; 4])
            .iter()
            .map(|r| (r.end, r.depth, r.boundary))
            .collect();
        assert_eq!(rows, [(Lower, 0, 0), (Lower, 1, 1), (Upper, 0, 2), (Upper, 1, 3)]);
        let rows = replacements(&[1], &[Upper], &[vec![true]]);
        assert_eq!((rows[0].end, rows[0].depth), (Upper, 0));
    }
}
