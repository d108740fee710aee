//! Which equation is the one of which state: the assignment problem.

/// For each row the column that is its own, so that the scores sum to as much as they can; where several orders do, one that
/// leaves most in their places.
///
/// By shortest augmenting paths, one row after the other (Kuhn 1955; Jonker and Volgenant, Computing 38, 325, 1987): the cube
/// of the number of rows.
pub(super) fn best(scores: &[Vec<i64>]) -> Vec<usize> {
    let count = scores.len();
    // More than all places together can add.
    let unit = count as i64 + 1;
    let cost = |row: usize, column: usize| -unit * scores[row][column] - i64::from(row == column);
    let (mut by_row, mut by_column) = (vec![0_i64; count], vec![0_i64; count]);
    let mut owner: Vec<Option<usize>> = vec![None; count];
    for new in 0..count {
        let (mut distance, mut before) = (vec![i64::MAX; count], vec![None; count]);
        let mut settled = vec![false; count];
        let (mut row, mut from, mut length) = (new, None, 0);
        // Ends at a column that nobody has.
        let mut end = loop {
            for column in (0..count).filter(|&column| !settled[column]) {
                let reduced = length + cost(row, column) - by_row[row] - by_column[column];
                if reduced < distance[column] {
                    (distance[column], before[column]) = (reduced, from);
                }
            }
            let free = (0..count).filter(|&column| !settled[column]);
            let nearest = free.min_by_key(|&column| distance[column]).expect("as many columns as rows");
            (settled[nearest], length, from) = (true, distance[nearest], Some(nearest));
            match owner[nearest] {
                Some(next) => row = next,
                None => break nearest,
            }
        };
        by_row[new] += length;
        for column in (0..count).filter(|&column| settled[column]) {
            by_column[column] -= length - distance[column];
            if let Some(row) = owner[column] {
                by_row[row] += length - distance[column];
            }
        }
        // Along the path each row takes the next column.
        while let Some(column) = before[end] {
            owner[end] = owner[column];
            end = column;
        }
        owner[end] = Some(new);
    }
    let column_of = |row: usize| owner.iter().position(|&owner| owner == Some(row));
    (0..count).map(|row| column_of(row).expect("every row has a column")).collect()
}

#[cfg(test)]
mod tests {
    use super::best;

    fn total(scores: &[Vec<i64>], order: &[usize]) -> i64 {
        order.iter().enumerate().map(|(row, &column)| scores[row][column]).sum()
    }

    /// All orders of 0..count.
    fn permutations(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![vec![]];
        }
        let longer = |order: Vec<usize>| {
            (0..count).map(move |place| [&order[..place], &[count - 1], &order[place..]].concat())
        };
        permutations(count - 1).into_iter().flat_map(longer).collect()
    }

    /// Scores from a linear congruence, with many that are equal; against all 120 orders.
    #[test]
    fn it_is_the_best_of_all_orders() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as i64 % 6
        };
        for _ in 0..200 {
            let scores: Vec<Vec<i64>> = (0..5).map(|_| (0..5).map(|_| next()).collect()).collect();
            let most = permutations(5).iter().map(|order| total(&scores, order)).max();
            let mut found = best(&scores);
            assert_eq!(Some(total(&scores, &found)), most, "{scores:?}");
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn what_is_all_the_same_stays_in_its_place() {
        assert_eq!(best(&vec![vec![3; 40]; 40]), (0..40).collect::<Vec<_>>());
    }
}
