/// <reference lib="dom" />
import type { ActionResult, ElementState } from '../../../benchmarks/contract.ts';
import type { Describer } from './describe.ts';
import type { Dom, Point } from './dom.ts';
import type { PageReader } from './reader.ts';
import type { VisibleText } from './text.ts';

type Refusal = Extract<ActionResult, { ok: false }>;
export type Done = ActionResult;
export type Aimed = ({ readonly ok: true } & Point) | Refusal;
/** `keys`: the field takes typed text. `set`: its browser widget takes a value only as a whole (dates, colours). */
export type Field = { readonly ok: true; readonly entry: 'keys' | 'set' } | Refusal;
export type Position =
  | { readonly ok: true; readonly state: ElementState | null; readonly radio: boolean }
  | Refusal;

type Direction = 'up' | 'down' | 'left' | 'right';

/**
 * The half of every action that happens inside the page: finds the element of a ref, brings it on the screen,
 * refuses with a reason that helps, and says where the mouse has to go. Runs in the page (see dom.ts).
 */
export class PageHands {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #describer: Describer;
  readonly #reader: PageReader;
  readonly #nodes = 10_000;
  readonly #formats: Readonly<Record<string, string>> = {
    date: 'YYYY-MM-DD',
    time: 'HH:MM',
    month: 'YYYY-MM',
    week: 'YYYY-Www',
    'datetime-local': 'YYYY-MM-DDTHH:MM',
    color: '#rrggbb',
    range: 'a number within its range',
  };

  constructor(dom: Dom, text: VisibleText, describer: Describer, reader: PageReader) {
    this.#dom = dom;
    this.#text = text;
    this.#describer = describer;
    this.#reader = reader;
  }

  #refuse(code: Refusal['code'], message: string): Refusal {
    return { ok: false, code, message };
  }

  // ---- pointing ----------------------------------------------------------------------------------------------

  #element(ref: string): Element | Refusal {
    const element = this.#reader.resolve(ref, this.#nodes);
    if (element !== null) return element;
    return this.#refuse('stale', `${ref} is no longer on the page: choose a ref of the latest observation.`);
  }

  #reachable(ref: string): { element: Element; point: Point } | Refusal {
    const element = this.#element(ref);
    if (!(element instanceof Element)) return element;
    if (this.#describer.isDisabled(element)) return this.#refuse('disabled', `${ref} is disabled.`);
    let aim = this.#reader.aimAt(element);
    if (aim.point === null || aim.coveredBy !== null) {
      this.#dom.scrollIntoView(this.#reader.drawn(element) ?? element);
      aim = this.#reader.aimAt(element);
    }
    if (aim.coveredBy !== null) {
      return this.#refuse('covered', `${ref} is covered by "${aim.coveredBy}": close or finish that first.`);
    }
    if (aim.point !== null) return { element, point: aim.point };
    return this.#refuse('stale', `${ref} is not drawn any more: choose a ref of the latest observation.`);
  }

  aim(ref: string): Aimed {
    const found = this.#reachable(ref);
    return 'ok' in found ? found : { ok: true, ...found.point };
  }

  // ---- fields ------------------------------------------------------------------------------------------------

  field(ref: string): Field {
    const found = this.#reachable(ref);
    if ('ok' in found) return found;
    const { element } = found;
    if (this.#dom.matches(element, ':read-only') && this.#isNativeField(element)) {
      return this.#refuse('not-editable', `${ref} is read-only.`);
    }
    if (element instanceof HTMLInputElement && this.#formats[element.type] !== undefined) {
      return { ok: true, entry: 'set' };
    }
    const role = this.#describer.role(element, false);
    const takesText = this.#describer.isTextField(element);
    const opensField = ['combobox', 'searchbox', 'textbox'].includes(role) && !this.#isNativeField(element);
    if (takesText || opensField) return { ok: true, entry: 'keys' };
    return this.#refuse('not-editable', `${ref} is a ${role}, which takes no text.`);
  }

  #isNativeField(element: Element): boolean {
    return ['input', 'textarea', 'select'].includes(this.#dom.tag(element));
  }

  /** After the click: gives the field the keyboard and selects what is to be replaced. */
  takeCaret(ref: string, clear: boolean): Done {
    const element = this.#element(ref);
    let field = this.#dom.focused();
    if (element instanceof HTMLElement && this.#describer.isTextField(element) && field !== element) {
      element.focus({ preventScroll: true });
      field = this.#dom.focused();
    }
    if (field === null || !this.#describer.isTextField(field)) {
      return this.#refuse('not-editable', `${ref} did not take the keyboard.`);
    }
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      if (clear) field.select();
      else this.#caretToEnd(field);
    } else {
      const selection = getSelection();
      selection?.selectAllChildren(field);
      if (!clear) selection?.collapseToEnd();
    }
    return { ok: true, note: null };
  }

  /** Fields such as number and e-mail have no caret to move: the browser puts it at the end by itself. */
  #caretToEnd(field: HTMLInputElement | HTMLTextAreaElement): void {
    if (field.selectionStart !== null) field.setSelectionRange(field.value.length, field.value.length);
  }

  setField(ref: string, text: string): Done {
    const field = this.#element(ref);
    if (!(field instanceof HTMLInputElement))
      return this.#refuse('stale', `${ref} changed while it was filled.`);
    const before = field.value;
    field.value = text;
    if (text !== '' && field.value !== text) {
      field.value = before;
      return this.#refuse('invalid', `${ref} takes ${this.#formats[field.type] ?? 'another format'}.`);
    }
    this.#announce(field);
    return { ok: true, note: null };
  }

  select(ref: string, wanted: string): Done {
    const found = this.#reachable(ref);
    if ('ok' in found) return found;
    const list = found.element;
    if (!(list instanceof HTMLSelectElement)) {
      return this.#refuse('not-editable', `${ref} is no native list: click it, then click the option.`);
    }
    const option = this.#optionOf(list, wanted);
    if (option === undefined) {
      const known = this.#describer.options(list).slice(0, 20).join(' | ');
      return this.#refuse('no-such-option', `${ref} has no option "${wanted}". Its options: ${known}`);
    }
    if (this.#dom.matches(option, ':disabled'))
      return this.#refuse('disabled', `Option "${wanted}" is disabled.`);
    if (option.selected) return { ok: true, note: 'It was already selected.' };
    option.selected = true;
    this.#announce(list);
    return { ok: true, note: null };
  }

  #optionOf(list: HTMLSelectElement, wanted: string): HTMLOptionElement | undefined {
    const options = [...list.options];
    const fold = (text: string) => text.trim().toLowerCase();
    return (
      options.find((option) => this.#describer.optionLabel(option) === wanted) ??
      options.find((option) => option.value === wanted) ??
      options.find((option) => fold(this.#describer.optionLabel(option)) === fold(wanted))
    );
  }

  #announce(field: Element): void {
    for (const type of ['input', 'change'])
      field.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }

  /** Position of a checkbox, radio button or toggle. */
  position(ref: string): Position {
    const element = this.#element(ref);
    if (!(element instanceof Element)) return element;
    const role = this.#describer.role(element, false);
    return { ok: true, state: this.#describer.chosen(element, role), radio: role === 'radio' };
  }

  // ---- scrolling and finding ---------------------------------------------------------------------------------

  /** Scrolls by most of a screen: the region that the ref names or lies in, else the page or its main region. */
  scroll(ref: string | null, direction: Direction): Done {
    const from = ref === null ? this.#mainRegion() : this.#element(ref);
    if (!(from instanceof Element)) return from;
    const region = this.#dom.closest(from, (at) => this.#dom.scrolls(at)) ?? this.#dom.scrollingElement();
    const before = this.#dom.scrolled(region);
    const step = 0.8 * (direction === 'up' || direction === 'down' ? innerHeight : innerWidth);
    const sign = direction === 'up' || direction === 'left' ? -1 : 1;
    const axis = direction === 'up' || direction === 'down' ? 'top' : 'left';
    this.#dom.scrollBy(region, { [axis]: sign * step, behavior: 'instant' });
    const after = this.#dom.scrolled(region);
    const moved = before.x !== after.x || before.y !== after.y;
    return { ok: true, note: moved ? null : `There is nothing more to scroll ${direction}.` };
  }

  /** The page itself where it scrolls, else the biggest region on the screen that does. */
  #mainRegion(): Element {
    const page = this.#dom.scrollingElement();
    if (this.#dom.scrollHeight(page) > innerHeight + 1) return page;
    return this.#dom.hit({ x: innerWidth / 2, y: innerHeight / 2 }) ?? page;
  }

  find(wanted: string): Done {
    const needle = wanted.trim().toLowerCase();
    if (needle === '') return this.#refuse('invalid', 'find needs some text.');
    const matches = this.#innermost(this.#dom.root(), needle);
    const first = matches[0];
    if (first === undefined) return this.#refuse('not-found', `"${wanted}" is not on this page.`);
    this.#dom.scrollIntoView(first);
    const places = matches.slice(0, 5).map((match) => `"${this.#text.line(match, 80)}"`);
    return { ok: true, note: `${matches.length} found: ${places.join(', ')}. Scrolled to the first.` };
  }

  /** The smallest elements whose visible text holds the needle. */
  #innermost(element: Element, needle: string): Element[] {
    const text = this.#text.lines(element, 1_000_000).lines.join(' ').toLowerCase();
    if (!text.includes(needle)) return [];
    const inner = this.#dom
      .children(element)
      .flatMap((child) => (this.#dom.isElement(child) ? this.#innermost(child, needle) : []));
    return inner.length > 0 ? inner : [element];
  }
}
