/// <reference lib="dom" />
import type { LeftOutRows } from '../../../benchmarks/contract.ts';
import type { Dom, Point } from './dom.ts';
import type { VisibleText } from './text.ts';

/** What can be acted on in a row. */
export interface RowEntry {
  readonly element: Element;
  readonly heading: string;
  /** Null when no part of it is on the screen. */
  readonly point: Point | null;
}

interface Row {
  readonly element: Element;
  readonly heading: string;
  entries: number;
  onScreen: boolean;
}

/** Children of one parent that have the same tag and first class, each with something in it to act on. */
interface List {
  readonly rows: Row[];
  /** Rows that may be left out, the last one first to go. */
  readonly spare: Row[];
}

/** Long lists of equal rows, which make room first where a page exceeds its budget. Runs in the page (see dom.ts). */
export class Rows {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  /** Fewer rows are no long list. */
  readonly #many = 10;
  /** How many rows show what the others are like. */
  readonly #samples = 3;
  readonly #depth = 8;

  constructor(dom: Dom, text: VisibleText) {
    this.#dom = dom;
    this.#text = text;
  }

  /**
   * Leaves out rows beyond the screen until `excess` entries are gone or no row is left to spare: from the end of
   * whichever list is the longest then.
   */
  leaveOut(entries: readonly RowEntry[], excess: number): { rows: Set<Element>; lists: LeftOutRows[] } {
    if (excess <= 0) return { rows: new Set(), lists: [] };
    const lists = this.#longLists(entries);
    const gone = new Set<Element>();
    for (let left = excess; left > 0; ) {
      const longest = lists.reduce<List | null>(
        (most, list) => (list.spare.length > (most?.spare.length ?? 0) ? list : most),
        null,
      );
      const row = longest?.spare.pop();
      if (row === undefined) break;
      gone.add(row.element);
      left -= row.entries;
    }
    const leftOut = lists.map((list) => this.#summary(list, gone)).filter(({ leftOut }) => leftOut > 0);
    return { rows: gone, lists: leftOut };
  }

  /** True for what stands in one of the rows. */
  isIn(element: Element, rows: ReadonlySet<Element>): boolean {
    return this.#dom.closest(element, (at) => rows.has(at)) !== null;
  }

  /** Where long lists lie within each other, the outermost counts. */
  #longLists(entries: readonly RowEntry[]): List[] {
    const families = Map.groupBy(this.#boxes(entries), ({ element }) => this.#dom.parent(element));
    const long = [...families.values()]
      .flatMap((siblings) => [...Map.groupBy(siblings, ({ element }) => this.#dom.kind(element)).values()])
      .filter(({ length }) => length >= this.#many);
    const inLong = new Set(long.flat().map(({ element }) => element));
    const outermost = long.filter((rows) => !rows.some(({ element }) => this.#liesIn(element, inLong)));
    return outermost.map((rows) => ({
      rows,
      spare: rows.slice(this.#samples).filter(({ onScreen }) => !onScreen),
    }));
  }

  /** Everything that holds an entry, in the order of the page, with the number of its entries. */
  #boxes(entries: readonly RowEntry[]): readonly Row[] {
    const boxes = new Map<Element, Row>();
    for (const { element, heading, point } of entries) {
      let at: Element | null = element;
      for (let depth = 0; at !== null && depth < this.#depth; depth += 1) {
        const box: Row = boxes.get(at) ?? { element: at, heading, entries: 0, onScreen: false };
        box.entries += 1;
        box.onScreen ||= point !== null;
        boxes.set(at, box);
        at = this.#dom.parent(at);
      }
    }
    return [...boxes.values()];
  }

  #liesIn(row: Element, rows: ReadonlySet<Element>): boolean {
    const parent = this.#dom.parent(row);
    return parent !== null && this.isIn(parent, rows);
  }

  #summary({ rows }: List, gone: ReadonlySet<Element>): LeftOutRows {
    const [first] = rows;
    return {
      like: first === undefined ? '' : this.#text.line(first.element, 80),
      heading: first?.heading ?? '',
      rows: rows.length,
      leftOut: rows.filter(({ element }) => gone.has(element)).length,
    };
  }
}
