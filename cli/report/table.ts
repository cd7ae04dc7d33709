import stringWidth from 'string-width';
import { cutTo, type Paint, pad, type Style, safeLine, WIDTH, wrap } from './terminal-text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Names that a reader types again: cut only when nothing else is left to cut. */
  readonly whole?: boolean;
  /** What does not fit goes on below instead of being cut. */
  readonly wraps?: boolean;
}

export type Cell = string | { readonly text: string; readonly style: Style };

const GAP = '  ';
const NARROWEST = 3;

/** Lines of a table of at most `width` columns; what does not fit is cut or wrapped, the widest column first. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  width = WIDTH,
): string[] {
  const titles = columns.map(({ title }) => safeLine(title));
  const texts = rows.map((row) => row.map((cell) => safeLine(typeof cell === 'string' ? cell : cell.text)));
  const widths = columnWidths(columns, [titles, ...texts], width);
  const layOut = (row: readonly string[], style: (column: number) => Style | null): string[] => {
    const cells = columns.map(({ wraps = false }, column) => {
      const [text, room] = [row[column] ?? '', widths[column] ?? 0];
      return wraps ? wrap(text, room) : [cutTo(text, room)];
    });
    const height = Math.max(1, ...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      columns
        .map(({ align }, column) => {
          const text = pad(cells[column]?.[line] ?? '', widths[column] ?? 0, align);
          const painted = style(column);
          return painted === null ? text : paint(painted, text);
        })
        .join(GAP)
        .trimEnd(),
    );
  };
  return [
    ...layOut(titles, () => 'dim'),
    ...texts.flatMap((row, index) => layOut(row, (column) => styleOf(rows[index]?.[column]))),
  ];
}

/** `rows` are the titles' and all others. */
function columnWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] {
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))));
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1) - width;
  for (; excess > 0; excess -= 1) {
    const widest = widestColumn(columns, widths);
    if (widest === null) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** The next column to become narrower; null when all are as narrow as they may be. */
function widestColumn(columns: readonly Column[], widths: readonly number[]): number | null {
  for (const whole of [false, true]) {
    const widest = widths
      .map((width, column) => ({ width, column }))
      .filter(({ width, column }) => width > NARROWEST && (columns[column]?.whole ?? false) === whole)
      .reduce<{ width: number; column: number } | null>(
        (found, next) => (found === null || next.width > found.width ? next : found),
        null,
      );
    if (widest !== null) return widest.column;
  }
  return null;
}

const styleOf = (cell: Cell | undefined): Style | null =>
  cell === undefined || typeof cell === 'string' ? null : cell.style;
