/// <reference lib="dom" />
import type { Dom } from './dom.ts';
import type { Groups } from './groups.ts';
import type { VisibleText } from './text.ts';

/** What an element is called: as a screen reader would, else as a person reads it off the page. Runs in the page. */
export class Names {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #groups: Groups;
  readonly #limit = 120;
  readonly #fields = 'input,select,textarea,[contenteditable]:not([contenteditable=false])';

  constructor(dom: Dom, text: VisibleText, groups: Groups) {
    this.#dom = dom;
    this.#text = text;
    this.#groups = groups;
  }

  /** Accessible name on one line; falls back to what stands beside the element, then to what its author called it. */
  name(element: Element, role: string): string {
    for (const source of [
      this.#labelledBy,
      this.#ownLabel,
      this.#nativeLabel,
      this.#contentName,
      this.#looseLabel,
      this.#besideName,
      this.#authorsName,
    ]) {
      const name = source.call(this, element, role);
      if (name !== '') return name.slice(0, this.#limit).trim();
    }
    return '';
  }

  #labelledBy(element: Element): string {
    const ids = this.#dom.attribute(element, 'aria-labelledby')?.trim().split(/\s+/) ?? [];
    return ids
      .map((id) => this.#lineOf(this.#dom.byId(element, id)))
      .join(' ')
      .trim();
  }

  #ownLabel(element: Element): string {
    return this.#oneLine(this.#dom.attribute(element, 'aria-label'));
  }

  /** Labels of a form field, the caption of a button input, the alternative text of an image. */
  #nativeLabel(element: Element): string {
    if (element instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(element.type)) {
      return this.#oneLine(element.value) || element.type;
    }
    const alternative = element instanceof HTMLImageElement || this.#dom.tag(element) === 'area';
    if (alternative) return this.#oneLine(this.#dom.attribute(element, 'alt'));
    return this.labels(element)
      .map((label) => this.#lineOf(label))
      .join(' ')
      .trim();
  }

  labels(element: Element): Element[] {
    const labelled =
      element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement;
    return labelled ? [...(element.labels ?? [])] : [];
  }

  /** A sign (☆, ×, the word of an icon font) says less than the title that explains it. */
  #contentName(element: Element, role: string): string {
    if (role === 'region' || this.#isField(element)) return '';
    const line = this.#lineOf(element);
    const isSign = !/[\p{L}\p{N}]/u.test(line) || /^[a-z]+(?:_[a-z]+)+$/.test(line);
    const title = isSign ? this.#oneLine(this.#dom.attribute(element, 'title')) : '';
    return title || line || this.#pictured(element);
  }

  #isField(element: Element): boolean {
    return this.#dom.matches(element, this.#fields);
  }

  /** Name of a control that shows only a picture. */
  #pictured(element: Element): string {
    const picture = this.#dom.query(element, '[aria-label],[title],img[alt],svg title');
    if (picture === null) return '';
    return this.#oneLine(
      this.#dom.attribute(picture, 'aria-label') ??
        this.#dom.attribute(picture, 'title') ??
        this.#dom.attribute(picture, 'alt') ??
        picture.textContent,
    );
  }

  /** A label that names something that no label can be for: a switch made of a `div`. */
  #looseLabel(element: Element): string {
    const id = this.#dom.attribute(element, 'id');
    if (!id) return '';
    return this.#lineOf(this.#dom.query(this.#dom.root(), `label[for=${CSS.escape(id)}]`));
  }

  /** The words of the smallest group, where the field or switch is the only control in it. */
  #besideName(element: Element): string {
    const group = this.#groups.around(element).find((at) => this.#groups.textOf(at) !== '');
    const isSwitch = /toggle|switch/.test(this.#dom.attribute(element, 'class') ?? '');
    if (group === undefined || !(this.#isField(element) || isSwitch)) return '';
    const controls = `${this.#fields},button,a[href],[onclick],[tabindex],[data-action]`;
    const drawings = this.labels(element);
    const isAlone = this.#dom
      .queryAll(group, controls)
      .every((at) => at === element || drawings.some((label) => this.#dom.contains(label, at)));
    const text = this.#groups.textOf(group);
    return isAlone && text.length <= this.#limit ? text : '';
  }

  #authorsName(element: Element): string {
    for (const attribute of ['title', 'placeholder', 'data-tooltip', 'data-action', 'data-testid', 'name']) {
      const value = this.#oneLine(this.#dom.attribute(element, attribute));
      if (value !== '') return value;
    }
    return '';
  }

  #lineOf(element: Element | null): string {
    return element === null ? '' : this.#text.line(element, this.#limit);
  }

  #oneLine(text: string | null): string {
    return (text ?? '').replace(/\s+/g, ' ').trim();
  }
}
