/// <reference lib="dom" />
import type { ElementState } from '../../../benchmarks/contract.ts';
import type { Dom } from './dom.ts';
import type { VisibleText } from './text.ts';

/**
 * Role, name, value and states of an element: ARIA where the page speaks it, and what a person reads off the
 * looks where it does not (a toggle's class, a row's text). Runs in the page (see dom.ts).
 */
export class Describer {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #nameLimit = 120;
  readonly #contextLimit = 160;
  readonly #inputRoles: Readonly<Record<string, string>> = {
    checkbox: 'checkbox',
    radio: 'radio',
    range: 'slider',
    number: 'spinbutton',
    search: 'searchbox',
    button: 'button',
    submit: 'button',
    reset: 'button',
    image: 'button',
    color: 'button',
    file: 'button',
  };
  readonly #tagRoles: Readonly<Record<string, string>> = {
    a: 'link',
    area: 'link',
    button: 'button',
    summary: 'button',
    textarea: 'textbox',
    option: 'option',
    img: 'img',
    li: 'listitem',
    tr: 'row',
    td: 'cell',
    th: 'columnheader',
    h1: 'heading',
    h2: 'heading',
    h3: 'heading',
    h4: 'heading',
    h5: 'heading',
    h6: 'heading',
  };
  readonly #groups =
    'tr,li,article,fieldset,details,[role=row],[role=listitem],[role=option],[role=group],[role=article],' +
    '.card,.row,.item,.form-group,.form-row,.field';
  readonly #contexts = new Map<Element, string>();

  constructor(dom: Dom, text: VisibleText) {
    this.#dom = dom;
    this.#text = text;
  }

  /** Texts of groups are read once a call. */
  forget(): void {
    this.#contexts.clear();
  }

  // ---- role --------------------------------------------------------------------------------------------------

  role(element: Element, scrolls: boolean): string {
    const explicit = this.#dom.attribute(element, 'role')?.trim().split(/\s+/)[0]?.toLowerCase();
    if (explicit && explicit !== 'none' && explicit !== 'presentation') return explicit;
    if (element instanceof HTMLInputElement) return this.#inputRole(element);
    if (element instanceof HTMLSelectElement) {
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    }
    if (this.isEditableContent(element)) return 'textbox';
    const tag = this.#dom.tag(element);
    if (tag === 'a' && !this.#dom.has(element, 'href')) return 'generic';
    return this.#tagRoles[tag] ?? (scrolls ? 'region' : 'generic');
  }

  #inputRole(input: HTMLInputElement): string {
    const role = this.#inputRoles[input.type];
    if (role !== undefined) return role;
    return this.#dom.has(input, 'list') ? 'combobox' : 'textbox';
  }

  isEditableContent(element: Element): boolean {
    return element instanceof HTMLElement && this.#dom.matches(element, '[contenteditable]')
      ? this.#dom.attribute(element, 'contenteditable') !== 'false'
      : false;
  }

  // ---- name --------------------------------------------------------------------------------------------------

  /** Accessible name on one line; falls back to what the page's author called the element. */
  name(element: Element, role: string): string {
    for (const source of [this.#labelledBy, this.#ownLabel, this.#nativeLabel, this.#contentName]) {
      const name = source.call(this, element, role);
      if (name !== '') return name.slice(0, this.#nameLimit).trim();
    }
    return this.#authorsName(element);
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

  #contentName(element: Element, role: string): string {
    const field = element instanceof HTMLInputElement || this.isTextField(element) || role === 'region';
    if (field || element instanceof HTMLSelectElement) return '';
    return this.#lineOf(element) || this.#pictured(element);
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

  #authorsName(element: Element): string {
    for (const attribute of ['title', 'placeholder', 'data-tooltip', 'data-action', 'data-testid', 'name']) {
      const value = this.#oneLine(this.#dom.attribute(element, attribute));
      if (value !== '') return value.slice(0, this.#nameLimit);
    }
    return '';
  }

  #lineOf(element: Element | null): string {
    return element === null ? '' : this.#text.line(element, this.#nameLimit);
  }

  #oneLine(text: string | null): string {
    return (text ?? '').replace(/\s+/g, ' ').trim();
  }

  // ---- value -------------------------------------------------------------------------------------------------

  isTextField(element: Element): boolean {
    return (
      element instanceof HTMLTextAreaElement ||
      (element instanceof HTMLInputElement && this.#inputRoles[element.type] === undefined) ||
      (element instanceof HTMLInputElement && ['number', 'search'].includes(element.type)) ||
      this.isEditableContent(element)
    );
  }

  value(element: Element): string | null {
    if (element instanceof HTMLInputElement) return this.#inputValue(element);
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (element instanceof HTMLSelectElement) {
      return [...element.selectedOptions].map((option) => this.optionLabel(option)).join(', ');
    }
    if (this.isEditableContent(element)) return this.#text.lines(element, 2_000).lines.join('\n');
    return this.#dom.attribute(element, 'aria-valuetext') ?? this.#dom.attribute(element, 'aria-valuenow');
  }

  #inputValue(input: HTMLInputElement): string | null {
    if (input.type === 'password') return '•'.repeat(input.value.length);
    return this.isTextField(input) || input.type === 'range' || input.type === 'color' ? input.value : null;
  }

  options(element: Element): string[] {
    if (!(element instanceof HTMLSelectElement)) return [];
    return [...element.options].slice(0, 100).map((option) => this.optionLabel(option));
  }

  optionLabel(option: HTMLOptionElement): string {
    return this.#oneLine(option.label);
  }

  // ---- states ------------------------------------------------------------------------------------------------

  isDisabled(element: Element): boolean {
    return (
      this.#dom.matches(element, ':disabled') ||
      this.#dom.closest(element, (at) => this.#dom.has(at, 'inert')) !== null ||
      this.#dom.attribute(element, 'aria-disabled') === 'true'
    );
  }

  states(element: Element, role: string): ElementState[] {
    const states: ElementState[] = [];
    const chosen = this.chosen(element, role);
    if (chosen !== null) states.push(chosen);
    const expanded = this.#expanded(element);
    if (expanded !== null) states.push(expanded);
    if (this.isDisabled(element)) states.push('disabled');
    if (this.#dom.focused() === element) states.push('focused');
    if (this.#dom.matches(element, ':required') || this.#dom.attribute(element, 'aria-required') === 'true') {
      states.push('required');
    }
    return states;
  }

  /** The position of anything that can be switched, picked or marked; null for anything that cannot. */
  chosen(element: Element, role: string): ElementState | null {
    if (element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio')) {
      return element.checked ? 'checked' : 'unchecked';
    }
    const checked = this.#dom.attribute(element, 'aria-checked');
    if (checked !== null) return checked === 'true' ? 'checked' : 'unchecked';
    const pressed = this.#dom.attribute(element, 'aria-pressed');
    if (pressed !== null) return pressed === 'true' ? 'on' : 'off';
    const selected =
      this.#dom.attribute(element, 'aria-selected') ?? this.#dom.attribute(element, 'aria-current');
    if (selected !== null) return selected === 'false' ? null : 'selected';
    return role === 'textbox' || role === 'combobox' ? null : this.#chosenByClass(element);
  }

  #chosenByClass(element: Element): ElementState | null {
    const words = (this.#dom.attribute(element, 'class') ?? '').toLowerCase().split(/[\s_-]+/);
    const isOneOf = (...known: string[]) => words.some((word) => known.includes(word));
    const on = isOneOf('on', 'checked', 'saved', 'liked', 'bookmarked', 'starred', 'pinned');
    if (isOneOf('toggle', 'switch')) return on || isOneOf('active', 'enabled') ? 'on' : 'off';
    if (on) return 'on';
    return isOneOf('active', 'selected', 'current') ? 'selected' : null;
  }

  #expanded(element: Element): ElementState | null {
    const expanded = this.#dom.attribute(element, 'aria-expanded');
    if (expanded !== null) return expanded === 'true' ? 'expanded' : 'collapsed';
    const details = this.#dom.tag(element) === 'summary' ? this.#dom.parent(element) : null;
    return details instanceof HTMLDetailsElement ? (details.open ? 'expanded' : 'collapsed') : null;
  }

  // ---- context -----------------------------------------------------------------------------------------------

  /** Text of the nearest row, card or form group; '' where it says nothing beyond the name. */
  context(element: Element, name: string): string {
    let at = this.#dom.parent(element);
    for (let depth = 0; at !== null && depth < 6; depth += 1) {
      if (this.#dom.tag(at) === 'body') return '';
      if (this.#isGroup(at)) {
        const text = this.#groupText(at);
        if (text !== '' && text !== name) return text;
      }
      at = this.#dom.parent(at);
    }
    return '';
  }

  #groupText(group: Element): string {
    let text = this.#contexts.get(group);
    if (text === undefined) {
      text = this.#text.line(group, this.#contextLimit);
      this.#contexts.set(group, text);
    }
    return text;
  }

  /** A row or card says so, or stands beside others of its kind. */
  #isGroup(element: Element): boolean {
    if (this.#dom.matches(element, this.#groups)) return true;
    const kind = this.#dom.attribute(element, 'class');
    if (!kind) return false;
    return [this.#dom.previousSibling(element), this.#dom.nextSibling(element)].some(
      (sibling) =>
        sibling !== null &&
        this.#dom.tag(sibling) === this.#dom.tag(element) &&
        this.#dom.attribute(sibling, 'class') === kind,
    );
  }
}
