/// <reference lib="dom" />
import type { Dom } from './dom.ts';

/** Reads what a person would see, in the order in which it is laid out. Runs in the page (see dom.ts). */
export class VisibleText {
  readonly #dom: Dom;
  readonly #silent = new Set([
    'script',
    'style',
    'noscript',
    'template',
    'head',
    'select',
    'textarea',
    'svg',
  ]);
  #skipped: ReadonlySet<Element> = new Set();
  #lines: string[] = [];
  #line = '';
  /** Characters that may still be read. */
  #left = 0;

  constructor(dom: Dom) {
    this.#dom = dom;
  }

  /** One line of at most `limit` characters. */
  line(element: Element, limit: number): string {
    const { lines } = this.lines(element, limit);
    return lines.join(' ').slice(0, limit).trim();
  }

  /**
   * One block a line, cells of a row divided by bars; `cut` when there was more than `limit` characters. What is
   * skipped is not read.
   */
  lines(
    element: Element,
    limit: number,
    skipped: ReadonlySet<Element> = new Set(),
  ): { lines: string[]; cut: boolean } {
    this.#skipped = skipped;
    this.#lines = [];
    this.#line = '';
    this.#left = limit;
    this.#readChildren(element, true);
    this.#endLine();
    return { lines: this.#lines, cut: this.#left <= 0 };
  }

  #readChildren(element: Element, shown: boolean): void {
    for (const child of this.#dom.children(element)) {
      if (this.#left <= 0) return;
      const text = this.#dom.textOf(child);
      if (this.#dom.isElement(child)) this.#readElement(child);
      else if (text !== null && shown) this.#append(text);
    }
  }

  #readElement(element: Element): void {
    const tag = this.#dom.tag(element);
    if (tag === 'br') this.#endLine();
    else if (tag === 'img') this.#append(` ${this.#dom.attribute(element, 'alt') ?? ''} `);
    else if (!this.#silent.has(tag)) this.#readBox(element);
  }

  #readBox(element: Element): void {
    const { display, rendered, shown, transparent } = this.#dom.look(element);
    if (transparent || !rendered || this.#skipped.has(element)) return;
    const isInline = display.startsWith('inline') || display === 'contents';
    const isCell = display === 'table-cell';
    if (!isInline && !isCell) this.#endLine();
    // A hidden box may hold children that show themselves.
    this.#readChildren(element, shown);
    if (isCell) this.#line += ' | ';
    else if (!isInline) this.#endLine();
    else if (display !== 'inline') this.#line += ' ';
  }

  #append(text: string): void {
    this.#line += text;
    this.#left -= text.trim().length;
  }

  #endLine(): void {
    const line = this.#line.replace(/\s+/g, ' ').replace(/^[ |]+|[ |]+$/g, '');
    if (line !== '') this.#lines.push(line);
    this.#line = '';
  }
}
