/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { VisibleText } from './text.ts';

/** Rows, cards and form groups: what tells equal controls apart. Runs in the page (see dom.ts). */
export class Groups {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #textLimit = 160;
  readonly #groups =
    'tr,li,article,fieldset,details,[role=row],[role=listitem],[role=option],[role=group],[role=article],' +
    '.card,.row,.item,.form-group,.form-row,.field';
  /** A class that says so at its end: `toggle-row`, `settings-card`. */
  readonly #groupClass = /[_-](?:row|item|card|field|group)(?:\s|$)/;
  /** What stands in it are the controls alone. */
  readonly #controlsClass = /(?:^|[\s_-])actions(?:\s|$)/;
  readonly #texts = new Map<Element, string>();

  constructor(dom: Dom, text: VisibleText) {
    this.#dom = dom;
    this.#text = text;
  }

  /** Texts of groups are read once a call. */
  forget(): void {
    this.#texts.clear();
  }

  /** Text of the nearest row, card or form group; '' where it says nothing beyond the name. */
  context(element: Element, name: string): string {
    for (const group of this.around(element)) {
      const text = this.textOf(group);
      if (text !== '' && text !== name) return text;
    }
    return '';
  }

  /** The groups that hold the element, from the inside out. */
  around(element: Element): Element[] {
    const found: Element[] = [];
    let at = this.#dom.parent(element);
    for (let depth = 0; at !== null && depth < 6 && this.#dom.tag(at) !== 'body'; depth += 1) {
      if (this.#isGroup(at)) found.push(at);
      at = this.#dom.parent(at);
    }
    return found;
  }

  textOf(group: Element): string {
    let text = this.#texts.get(group);
    if (text === undefined) {
      text = this.#text.line(group, this.#textLimit);
      this.#texts.set(group, text);
    }
    return text;
  }

  /** A row or card says so, or stands beside others of its kind. */
  #isGroup(element: Element): boolean {
    if (this.#dom.matches(element, this.#groups)) return true;
    const classes = this.#dom.attribute(element, 'class') ?? '';
    if (this.#controlsClass.test(classes)) return false;
    if (this.#groupClass.test(classes)) return true;
    if (classes.trim() === '') return false;
    const kind = this.#dom.kind(element);
    return [this.#dom.previousSibling(element), this.#dom.nextSibling(element)].some(
      (sibling) => sibling !== null && this.#dom.kind(sibling) === kind,
    );
  }
}
