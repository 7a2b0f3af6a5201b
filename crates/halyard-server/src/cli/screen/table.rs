//! Rows of cells, one line each, cut to the width of the terminal.

use comfy_table::{
    Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row, presets,
};

use super::{Colour, Style, clean};

/// One cell: text that was made harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    colour: Option<Colour>,
}

impl Cell {
    /// Text of any origin.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self { text: clean(text.as_ref()), colour: None }
    }

    /// The same in a colour.
    #[must_use]
    pub fn paint(self, colour: impl Into<Option<Colour>>) -> Self {
        Self { colour: colour.into(), ..self }
    }
}

/// A table. Columns whose heading ends with `!` are never cut; nor are those that end with `>`,
/// which stand to the right.
#[derive(Debug)]
pub struct Table {
    table: comfy_table::Table,
    style: Style,
    width: Option<u16>,
}

impl Table {
    /// A table with these headings, as wide as the terminal.
    #[must_use]
    pub fn new(headings: &[&str], style: Style) -> Self {
        let mut table = comfy_table::Table::new();
        // A terminal that does not know says 0.
        let width = table.width().filter(|width| *width > 0);
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if style.colours {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let heading = |name: &&str| {
            let name = name.trim_end_matches(['!', '>']);
            comfy(Cell::new(name).paint(Colour::Bold), style)
        };
        let mut header = Row::from(headings.iter().map(heading).collect::<Vec<_>>());
        header.max_height(1);
        table.set_header(header);
        for (heading, column) in headings.iter().zip(table.column_iter_mut()) {
            column.set_padding((0, 2));
            if heading.ends_with(['!', '>']) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            if heading.ends_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table, style, width }
    }

    /// With another width than the terminal's.
    #[must_use]
    pub fn with_width(self, width: u16) -> Self {
        Self { width: Some(width), ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<comfy_table::Cell> =
            cells.into_iter().map(|cell| comfy(cell, self.style)).collect();
        let mut row = Row::from(cells);
        row.max_height(1);
        self.table.add_row(row);
    }

    /// The table, a line for each row.
    #[must_use]
    pub fn show(mut self) -> String {
        match self.width {
            Some(width) => self.table.set_width(width),
            None => self.table.set_content_arrangement(ContentArrangement::Disabled),
        };
        self.table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn comfy(cell: Cell, style: Style) -> comfy_table::Cell {
    let shown = comfy_table::Cell::new(cell.text);
    match cell.colour.filter(|_| style.colours) {
        None => shown,
        Some(Colour::Red) => shown.fg(Color::DarkRed),
        Some(Colour::Green) => shown.fg(Color::DarkGreen),
        Some(Colour::Yellow) => shown.fg(Color::DarkYellow),
        Some(Colour::Cyan) => shown.fg(Color::DarkCyan),
        Some(Colour::Faint) => shown.add_attribute(Attribute::Dim),
        Some(Colour::Bold) => shown.add_attribute(Attribute::Bold),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(style: Style) -> Table {
        let mut table = Table::new(&["ID!", "TASK", "JOBS>"], style);
        table.row(["job_1", "a-task-with-a-long-name", "7"].map(Cell::new));
        table.row([Cell::new("job_2"), Cell::new("évil\n\u{1b}[2J").paint(Colour::Red)]);
        table
    }

    #[test]
    fn rows() {
        let plain = table(Style::default()).with_width(80).show();
        assert_eq!(
            plain,
            "ID     TASK                     JOBS\n\
             job_1  a-task-with-a-long-name     7\n\
             job_2  évil\\n\\u{1b}[2J\n"
        );
    }

    #[test]
    fn narrow() {
        let narrow = table(Style::default()).with_width(24).show();
        assert_eq!(narrow, "ID     TASK       JOBS\njob_1  a-task-w…     7\njob_2  évil\\n\\u…\n");
    }

    #[test]
    fn colours() {
        let coloured = table(Style { colours: true }).with_width(80).show();
        assert!(coloured.contains("\u{1b}[") && coloured.contains("\u{1b}[0m"), "{coloured:?}");
        assert!(!coloured.contains("[2J\u{1b}[2J"), "{coloured:?}");
    }
}
