//! Rows of text as columns for a terminal.

/// The rows under each other, the first column to the left and the others to the right.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let line = |row: &[String; N]| {
        let cell = |(column, cell): (usize, &String)| match column {
            0 => format!("{cell:0$}", width(0)),
            _ => format!("  {cell:>0$}", width(column)),
        };
        row.iter().enumerate().map(cell).collect::<String>() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_left_and_numbers_right() {
        let rows = [["name", "±"], ["D", "0.25"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "name     ±\nD     0.25\n");
    }
}
